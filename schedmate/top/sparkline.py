"""A curve in one line of text."""

from collections.abc import Sequence
from math import isfinite, isinf
from statistics import median

BLOCKS = "▁▂▃▄▅▆▇█"
WIDTH = 40  # characters of a curve
FEWEST = 5
"""Minimum number of points of a curve."""


def sparkline(values: Sequence[float], width: int = WIDTH) -> str:
    """Return `values` as block characters, at most `width` of them, each the median of its share; empty of fewer than five."""
    if len(values) < FEWEST:
        return ""
    columns = min(width, len(values))
    shares = [values[place * len(values) // columns : (place + 1) * len(values) // columns] for place in range(columns)]
    heights = [median(share) for share in shares]
    low, high = min(heights), max(heights)
    if high == low:
        return BLOCKS[0] * columns
    low, high = widened(low, high)
    return "".join(BLOCKS[min(7, int(8 * share_of(height, low, high)))] for height in heights)


def share_of(value: float, low: float, high: float) -> float:
    """Return the position of a finite `value` between `low` and `high`, from 0 to 1; 0.5 where they are equal."""
    if not high > low:
        return 0.5
    if isinf(high - low):  # the difference exceeds the range of a float
        value, low, high = value / 2, low / 2, high / 2
    return (value - low) / (high - low)


def widened(low: float, high: float) -> tuple[float, float]:
    """Return bounds that span at least a tenth of the value, so that noise does not look like a trend."""
    room = (max(abs(low), abs(high)) / 10 - (high - low)) / 2
    return (low - room, high + room) if room > 0 and isfinite(room) else (low, high)
