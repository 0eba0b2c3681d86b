"""Which progress bars are no training: unnamed ones under a line that says so, and those under a longer bar.

A bar without a name takes that of the line above it: under `Decoding the test set...` it is no training. A bar under a longer one, of its
very name once that has ended or without a name, is of an evaluation. Bars of epochs are drawn about those of steps too, but they are the
shorter ones.
"""

import re
from functools import lru_cache

import msgspec

from ..classified_chunk import ClassifiedChunk
from ..grammar.prefix import strip_prefix

_COUNTS = re.compile(r"\|\s*(\d+)/(\d+)\s\[(?:(\d+):)?(\d+):(\d\d)<")
_LONGEST_BAR, _WIDEST_BAR = 80, 200
_BETWEEN = 6
"""Lines of other kinds that may stand between two bars: what is reported of a step, what is said of the evaluation."""


class Bar(msgspec.Struct, array_like=True):
    """The bar drawn last.

    Attributes:
        name: What stands before its percentage.
        done: `k` of its `k/N`.
        end: Its `N`; 0 for no bar.
        seconds: Since it began.
        within: It stands under a longer one, and is of the evaluation as long as it is younger than so many seconds.
        since: Lines after it.
    """

    name: str = ""
    done: int = 0
    end: int = 0
    seconds: float = 0.0
    within: float = 0.0
    since: int = 0


_NONE = Bar()
_MUCH = 2
"""Times that an ended loop is longer than its evaluation at least: epochs may differ in length."""
_EVER = 1e9
"""Seconds without a limit, about 32 years: longer than any job."""


class NestedBars:
    """Which bars of a chunk are of evaluations, by the longer ones that they stand under.

    Args:
        view: The chunk.
        before: The bar at the end of the chunk before it.
    """

    def __init__(self, view: ClassifiedChunk, before: Bar) -> None:
        self._lines = view.lines
        self._before = before
        self._known: tuple[int, int, float] = (0, 0, 0.0)

    def second(self, place: int) -> bool:
        """Return whether line `place` is a bar under a longer one."""
        bar = read(self._lines[place])
        return bar.end > 0 and bar.seconds < self._within(place, bar)

    def last(self) -> Bar:
        """Return the bar at the end of the chunk."""
        place, bar = self._above(len(self._lines))
        if place >= 0:
            bar = msgspec.structs.replace(bar, within=self._within(place, bar), since=len(self._lines) - 1 - place)
        return bar

    def _within(self, place: int, bar: Bar) -> float:
        begin, until, known = self._known
        if not begin <= place < until:
            begin, (above, earlier) = place, self._above(place)
            while above >= 0 and _same(earlier, bar):
                begin, (above, earlier) = above, self._above(above)
            known = earlier.within if _same(earlier, bar) else _allowed(earlier, bar)
            self._known = (begin, place + 1, known)
        return known

    def _above(self, place: int) -> tuple[int, Bar]:
        """Return the bar above line `place`, and its line; -1 where that is of the chunk before."""
        first = max(0, place - _BETWEEN - 1)
        for above in range(place - 1, first - 1, -1):
            if (bar := read(self._lines[above])).end:
                return above, bar
        before = self._before
        if first or before.since + place > _BETWEEN:
            return -1, _NONE
        return -1, msgspec.structs.replace(before, since=before.since + place)


def _same(one: Bar, other: Bar) -> bool:
    return one.name == other.name and one.end == other.end


def _allowed(earlier: Bar, bar: Bar) -> float:
    """Return the seconds for which `bar`, drawn under another one, is of an evaluation; 0 where it is none."""
    if earlier.name != bar.name or earlier.end <= bar.end:
        return 0.0
    ended = earlier.done == earlier.end
    if bar.name:  # `train` alone is the name of every epoch's bar, and those may differ in length
        return _EVER if ended and any(map(str.isdigit, bar.name)) else 0.0
    return earlier.seconds if not ended or _MUCH * bar.end <= earlier.end else 0.0


def read(line: str) -> Bar:
    """Return the bar that `line` draws; one that ends at 0 where it draws none."""
    share = line.find("%|")
    if not 0 <= share <= _WIDEST_BAR or (found := _COUNTS.search(line, share)) is None:
        return _NONE
    name = _name(line[:share])
    if len(name) > _LONGEST_BAR:
        return _NONE
    done, end, hours, minutes, seconds = found.groups()
    return Bar(name, int(done), int(end), int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds))


@lru_cache(maxsize=4096)
def _name(before: str) -> str:
    """Return the name in what stands before a bar's `%`: a launcher's rank is no part of it, nor is the share."""
    return strip_prefix(before).body.rstrip("0123456789. ").strip()


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


class SectionState(msgspec.Struct, array_like=True):
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

    def __init__(self, view: ClassifiedChunk, before: SectionState) -> None:
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

    def last(self) -> SectionState:
        """Return what stands at the end of the chunk."""
        place = next((index for index in range(len(self._lines) - 1, -1, -1) if not self._passes(index)), -1)
        if place < 0:
            return self._before
        end = self._end(place)
        return SectionState(not end and _announces(self._templates[place]), end, self.foreign(place))

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
