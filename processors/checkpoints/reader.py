"""Finds the lines of a chunk that report a save.

Each template is read once. Most templates contain no word of saving, and one scan for these words skips them.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..classified_chunk import ERROR, ClassifiedChunk
from ..grammar.cache import GenerationCache
from ..grammar.prefix import strip_prefix
from ..grammar.prescan import Literals
from . import language, places
from .language import NOTHING, SaveReport, SaveWords

_WORDS = Literals(
    [r"sav(?:e|ing)|writ(?:e|ing|ten)|wrote|dump|stor(?:e|ing)|persist|seriali|snapshot|check-?point|ckpt|renam"]
)
"""Words of which each line about a save contains one."""
READ = 2000
"""Characters of a line in which step and path are looked for."""


class SaveLine(NamedTuple):
    """A line that reports a save.

    Attributes:
        at: Its place in the chunk.
        report: What it reports.
        asynchronous: It states that training continues during the save.
        path: Place of the checkpoint; empty if the line does not state it.
        step: Training step; None if the line does not state it.
        seconds: Duration of the save; None if the line does not state it.
    """

    at: int
    report: SaveReport
    asynchronous: bool
    path: str
    step: int | None
    seconds: float | None


class CheckpointReader:
    """Finds the lines that report saves. It caches results by template and holds no state of a job."""

    def __init__(self, size: int = 20_000) -> None:
        self._known: GenerationCache[SaveWords] = GenerationCache(size)

    def find(
        self, chunk: ClassifiedChunk, wanted: Callable[[int, SaveReport], bool] = lambda _at, _report: True
    ) -> Iterator[SaveLine]:
        """Yield the lines of `chunk` that report a save and are `wanted`, by place and report. Reading a line costs most."""
        young = self._known.young
        reporting = {
            template: words
            for template in chunk.distinct
            if (words := young.get(template) or self._known.get(template) or self._learn(template)) is not NOTHING
        }
        if not reporting:
            return
        for index, template in enumerate(chunk.templates):
            if template not in reporting:
                continue
            one = reporting[template]
            # A line of an error may quote a program that saves.
            if (chunk.classes[index] == ERROR and one.what is not SaveReport.FAILED) or not wanted(index, one.what):
                continue
            text = _message(_beginning(chunk.lines[index]))
            path = places.path(text)
            yield SaveLine(index, *one, path, places.step(text, path), places.seconds(text))

    def _learn(self, template: str) -> SaveWords:
        words = language.read(_message(template)) if _WORDS.likely(template) else NOTHING
        self._known.put(template, words)
        return words


def _message(line: str) -> str:
    """Return the message of `line`: the text after a logger's prefix, and after an unfinished progress bar in the same line."""
    bar = max(line.rfind("it/s"), line.rfind("s/it"))
    end = line.find("]", bar) + 1 if bar >= 0 else 0
    glued = line[end:] if end else ""
    return strip_prefix(glued if glued.strip() else line).body


def _beginning(line: str) -> str:
    """Return `line`, or of a long one the beginning up to a space: half a path names another place."""
    return line if len(line) <= READ else line[:READ].rpartition(" ")[0]
