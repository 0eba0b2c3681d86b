"""A bar that bears the very name of a longer one which ended right above it is of the evaluation after that epoch."""

import re

import msgspec

from processors.view import ChunkView

_COUNTS = re.compile(r"\|\s*(\d+)/(\d+)\s")
_LONGEST = 80


class Bar(msgspec.Struct, array_like=True):
    """The bar drawn last.

    Attributes:
        name: What stands before its percentage; empty where that counts nothing.
        done: `k` of its `k/N`.
        end: Its `N`.
        second: It follows a longer one of its name.
    """

    name: str = ""
    done: int = 0
    end: int = 0
    second: bool = False


NONE = Bar()


class Namesakes:
    """Which bars of a chunk bear the name of a longer one before them.

    A name must hold a number, that of the epoch: `train` alone is the name of every epoch's bar, and those may differ in length.

    Args:
        view: The chunk.
        before: The bar at the end of the chunk before it.
    """

    def __init__(self, view: ChunkView, before: Bar) -> None:
        self._lines = view.lines
        self._before = before
        self._known: tuple[int, int, bool] = (0, 0, False)

    def second(self, place: int) -> bool:
        """Return whether line `place` is a bar whose longer namesake ended right above it."""
        bar = read(self._lines[place])
        if not bar.name:
            return False
        begin, until, known = self._known
        if not begin <= place < until:
            begin = self._first(place, bar)
            known = self._follows(begin, bar)
            self._known = (begin, place + 1, known)
        return known

    def last(self) -> Bar:
        """Return the bar at the end of the chunk."""
        place = self._above(len(self._lines))
        if place < 0:
            return self._before
        bar = read(self._lines[place])
        return msgspec.structs.replace(bar, second=self.second(place)) if bar.name else bar

    def _first(self, place: int, bar: Bar) -> int:
        """Return the first line of the loop that draws `bar` at line `place`."""
        above = self._above(place)
        while above >= 0 and _same(read(self._lines[above]), bar):
            place, above = above, self._above(above)
        return place

    def _follows(self, first: int, bar: Bar) -> bool:
        above = self._above(first)
        earlier = read(self._lines[above]) if above >= 0 else self._before
        if above < 0 and _same(earlier, bar):
            return earlier.second
        return earlier.name == bar.name and earlier.done == earlier.end > bar.end

    def _above(self, place: int) -> int:
        """Return the line above `place` that is not blank; -1 without one."""
        return next((above for above in range(place - 1, -1, -1) if not self._lines[above].isspace()), -1)


def _same(one: Bar, other: Bar) -> bool:
    return one.name == other.name and one.end == other.end


def read(line: str) -> Bar:
    """Return the bar that `line` draws; one without a name where it draws none."""
    share = line.find("%|")
    if share <= 0 or (found := _COUNTS.search(line, share)) is None:
        return NONE
    name = line[:share].rstrip("0123456789. ").strip()
    if not any(map(str.isdigit, name)) or len(name) > _LONGEST:
        return NONE
    return Bar(name, int(found[1]), int(found[2]))
