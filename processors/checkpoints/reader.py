"""The lines of a chunk that tell of a save.

What a line tells is worked out once a template. Most templates lack every word of saving, and one scan for these passes them over.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..classified_chunk import ERROR, ClassifiedChunk
from ..grammar.cache import GenerationCache
from ..grammar.prefix import strip_prefix
from ..grammar.prescan import Literals
from . import language, places
from .language import NOTHING, SaveWords, Says

_WORDS = Literals(
    [r"sav(?:e|ing)|writ(?:e|ing|ten)|wrote|dump|stor(?:e|ing)|persist|seriali|snapshot|check-?point|ckpt|renam"]
)
"""No line tells of a save without one of these."""
CACHE_SIZE = 20_000
READ = 2000
"""Characters of a line in which step and path are looked for."""


class SaveLine(NamedTuple):
    """A line that tells of a save.

    Attributes:
        at: Its place in the chunk.
        says: What it tells.
        asynchronous: Training goes on meanwhile, it says.
        path: Where it is saved; empty where it does not say.
        step: Training step; None where it does not say.
        seconds: How long it took; None where it does not say.
    """

    at: int
    says: Says
    asynchronous: bool
    path: str
    step: int | None
    seconds: float | None


class CheckpointReader:
    """Finds the lines that tell of saves. Holds what follows from templates, nothing of any job."""

    def __init__(self, size: int = CACHE_SIZE) -> None:
        self._known: GenerationCache[SaveWords] = GenerationCache(size)

    def find(
        self, chunk: ClassifiedChunk, wanted: Callable[[int, Says], bool] = lambda _at, _says: True
    ) -> Iterator[SaveLine]:
        """Yield the lines of `chunk` that tell of a save, and that are `wanted`, by place and what they tell: to read one costs most."""
        young = self._known.young
        telling = {
            template: said
            for template in chunk.distinct
            if (said := young.get(template) or self._known.get(template) or self._learn(template)) is not NOTHING
        }
        if not telling:
            return
        for index, template in enumerate(chunk.templates):
            if template not in telling:
                continue
            one = telling[template]
            # A line of an error may quote a program that saves.
            if (chunk.classes[index] == ERROR and one.what is not Says.FAILED) or not wanted(index, one.what):
                continue
            text = _message(_beginning(chunk.lines[index]))
            path = places.path(text)
            yield SaveLine(index, *one, path, places.step(text, path), places.seconds(text))

    def _learn(self, template: str) -> SaveWords:
        said = language.read(_message(template)) if _WORDS.likely(template) else NOTHING
        self._known.put(template, said)
        return said


def _message(line: str) -> str:
    """Return what `line` says behind a logger's prefix, and behind a bar that did not end its line: messages are often glued to one."""
    bar = max(line.rfind("it/s"), line.rfind("s/it"))
    end = line.find("]", bar) + 1 if bar >= 0 else 0
    glued = line[end:] if end else ""
    return strip_prefix(glued if glued.strip() else line).body


def _beginning(line: str) -> str:
    """Return `line`, or of a long one the beginning up to a space: half a path names another place."""
    return line if len(line) <= READ else line[:READ].rpartition(" ")[0]
