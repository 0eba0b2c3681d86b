"""A curve in one line of text."""

from collections.abc import Sequence
from statistics import median

BLOCKS = "▁▂▃▄▅▆▇█"
WIDTH = 40
FEWEST = 5
"""Points below which a curve says nothing."""


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
    return "".join(BLOCKS[min(7, int(8 * (height - low) / (high - low)))] for height in heights)
