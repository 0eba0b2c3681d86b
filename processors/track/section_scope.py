"""Bars without a name take that of the line above them: under `Decoding the test set...` they are no training."""

import re
from functools import lru_cache

import msgspec

from processors.classified_chunk import ClassifiedChunk
from processors.grammar.prefix import strip_prefix

_LOOP = re.compile(r"\s*\d+(?:\.\d+)?%.*?\b\d+(?:/|\s+of\s+)(\d+)")
_OTHER_WORK = (
    r"(?:pre-?process|extract|decod|encod|predict|eval|validat|test|infer|generat|convert|render|transcrib|translat"
    r"|synthesi[sz]|detect)\w*+"
)
_WORKING = re.compile(rf"(?i)\b{_OTHER_WORK}(?<=ing)\b")
_BEGINS = re.compile(r"(?i)\b(?:start\w*|begin\w*|now|running|comput\w+)\b")
_WORK = re.compile(rf"(?i)\b{_OTHER_WORK}")
_AHEAD = re.compile(r"(?:\.\.\.|…|:|[-=*#]{2})$")
_TRAINS = re.compile(r"(?i)train|epoch|tun(?:e|ing)\b|learn")
_LONGEST, _WIDEST = 200, 500


class Loop(msgspec.Struct, array_like=True):
    """What stood at the end of the lines seen.

    Attributes:
        announced: The last line says that other work begins.
        end: `N` of the bar that is drawn; empty where the last line is none.
        foreign: That bar is of other work.
    """

    announced: bool = False
    end: str = ""
    foreign: bool = False


class SectionScope:
    """Which unnamed bars of a chunk are of other work than training.

    Args:
        view: The chunk.
        before: What stood at the end of the chunk before it.
    """

    def __init__(self, view: ClassifiedChunk, before: Loop) -> None:
        self._lines = view.lines
        self._templates = view.templates
        self._before = before
        self._known: tuple[int, int, bool] = (0, 0, False)

    def foreign(self, place: int) -> bool:
        """Return whether line `place` is a bar of other work."""
        end = self._end(place)
        if not end:
            return False
        begin, until, known = self._known
        if begin <= place < until:
            return known
        first = place
        while first and (self._end(first - 1) == end or self._passes(first - 1)):
            first -= 1
        found = self._under(first, end)
        self._known = (first, place, found)
        return found

    def _under(self, first: int, end: str) -> bool:
        """Return whether the loop to `end` that is drawn from line `first` on is of other work."""
        if first:
            return _announces(self._templates[first - 1])
        before = self._before
        return before.foreign if before.end == end else before.announced

    def last(self) -> Loop:
        """Return what stands at the end of the chunk."""
        place = next((index for index in range(len(self._lines) - 1, -1, -1) if not self._passes(index)), -1)
        if place < 0:
            return self._before
        end = self._end(place)
        return Loop(not end and _announces(self._templates[place]), end, self.foreign(place))

    def _end(self, place: int) -> str:
        """Return the `N` of a bar that names nothing and shows no loss; empty for other lines."""
        line = self._lines[place]
        if "%" not in line:
            return ""  # most lines, at the cost of a look
        begin = _message(self._templates[place])
        found = _LOOP.match(line, begin, begin + _WIDEST)
        return found[1] if found and "oss" not in line else ""

    def _passes(self, place: int) -> bool:
        """Return whether what stands above a line goes on below it: it is blank, a bar of nothing yet, or one with a name of its own."""
        line = self._lines[place]
        return not line.strip() or "0it [00:00, ?it/s]" in line or ("%|" in line and not self._end(place))


@lru_cache(maxsize=4096)
def _message(template: str) -> int:
    """Return where in the lines of `template` the message begins."""
    return max(template.rfind(strip_prefix(template).body), 0)


@lru_cache(maxsize=4096)
def _announces(template: str) -> bool:
    """Return whether the lines of `template` say that other work than training begins."""
    if len(template) >= _LONGEST or not _AHEAD.search(template.rstrip()) or _TRAINS.search(template):
        return False
    begins = _BEGINS.search(template)
    return _WORKING.search(template) is not None or (
        begins is not None and _WORK.search(template, begins.end()) is not None
    )
