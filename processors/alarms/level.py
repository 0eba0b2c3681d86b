"""A level that a number keeps to, and when it has left it."""

from collections.abc import Callable, Sequence
from enum import Enum

import msgspec

from schedmate_records import Evidence

from ..read.robust import median

KEPT = 64
"""Numbers remembered. Once as many are above the level, they are the new level."""


class Crossing(Enum):
    """Position of a number relative to its level."""

    NONE = 0
    ABOVE = 1
    """It has left its level upwards."""
    BACK = 2
    """It is back, or keeps to a new level by now."""


class Level(msgspec.Struct):
    """The newest numbers that were as usual, and how many in a row were not.

    Attributes:
        kept: As usual, oldest first.
        odd: Numbers above the limit in a row.
        above: Whether enough of them were.
        since: Time of the first of them.
        evidence: The line of the newest number that was as usual.
    """

    kept: list[float] = []
    odd: int = 0
    above: bool = False
    since: float = 0.0
    evidence: Evidence | None = None

    @property
    def usual(self) -> float:
        """The median of what is kept; 0 of nothing."""
        return median(self.kept) if self.kept else 0.0

    def add_value(
        self,
        value: float,
        time: float,
        evidence: Evidence | None,
        limit: Callable[[Sequence[float]], float],
        *,
        least: int,
        row: int,
    ) -> Crossing:
        """Take the next number.

        Args:
            value: The number.
            time: When it came.
            evidence: Its line.
            limit: Gives the number above which one is not as usual, from those kept.
            least: Numbers that make a level.
            row: Numbers above the limit in a row that leave it: a single one may be chance.
        """
        if len(self.kept) >= least and value > limit(self.kept):
            if not self.odd:
                self.since = time
            self.odd += 1
            if self.odd >= KEPT:
                self.kept, self.odd, self.evidence = [], 0, evidence
                return self._back()
            if self.odd < row or self.above:
                return Crossing.NONE
            self.above = True
            return Crossing.ABOVE
        self.odd = 0
        self.kept = [*self.kept, value][-KEPT:]
        self.evidence = evidence
        return self._back()

    def _back(self) -> Crossing:
        was, self.above = self.above, False
        return Crossing.BACK if was else Crossing.NONE


def deviations(values: Sequence[float], count: float) -> float:
    """Return how much `count` robust standard deviations of `values` are (median absolute deviation)."""
    middle = median(values)
    # 1.4826 times the median absolute deviation of normal noise is its standard deviation.
    return count * 1.4826 * median(abs(value - middle) for value in values)
