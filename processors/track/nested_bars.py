"""Bars under a longer one: of its very name once it has ended, or without a name. They are of evaluations.

Bars of epochs are drawn about those of steps too, but they are the shorter ones.
"""

import re
from functools import lru_cache

import msgspec

from processors.classified_chunk import ClassifiedChunk
from processors.grammar.prefix import strip_prefix

_COUNTS = re.compile(r"\|\s*(\d+)/(\d+)\s\[(?:(\d+):)?(\d+):(\d\d)<")
_LONGEST, _WIDEST = 80, 200
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
    if not 0 <= share <= _WIDEST or (found := _COUNTS.search(line, share)) is None:
        return _NONE
    name = _name(line[:share])
    if len(name) > _LONGEST:
        return _NONE
    done, end, hours, minutes, seconds = found.groups()
    return Bar(name, int(done), int(end), int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds))


@lru_cache(maxsize=4096)
def _name(before: str) -> str:
    """Return the name in what stands before a bar's `%`: a launcher's rank is no part of it, nor is the share."""
    return strip_prefix(before).body.rstrip("0123456789. ").strip()
