"""Medians that a few odd values do not move, and the usual value among values to which pauses were added."""

import math
from collections.abc import Iterable, Sequence

_SIGMA = 1.4826
"""Makes the median absolute deviation of normal noise its standard deviation."""

_CUT = 5.0
"""Deviations from the median beyond which a value is an outlier."""
_FLOOR = 0.05
"""Deviations below this share of the median are never odd: many logs print few digits."""
_SHARE = 0.4
"""Of the values that the densest cluster holds: more than a few, fewer than half, since half of the stretches may hold a pause."""


_STEADY = 0.25
"""Relative spread up to which values hold no pauses."""


def median(values: Iterable[float]) -> float:
    """Return the median of at least one value. That of `statistics` takes numbers of any kind, and twice as long."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def without_outliers(values: Sequence[float]) -> list[float]:
    """Return `values` without those further than five deviations from their median (median absolute deviation)."""
    if len(values) < 3:
        return list(values)
    middle = median(values)
    spread = _SIGMA * median(abs(value - middle) for value in values)
    limit = max(_CUT * spread, _FLOOR * abs(middle))
    return [value for value in values if abs(value - middle) <= limit]


def robust_median(values: Sequence[float]) -> float | None:
    """Return the median of `values` without outliers; None of nothing."""
    kept = without_outliers(values)
    return median(kept) if kept else None


def spread(values: Sequence[float]) -> float:
    """Return the relative spread of `values`: deviation over median; 0 of fewer than three."""
    if len(values) < 3:
        return 0.0
    middle = median(values)
    return _SIGMA * median(abs(value - middle) for value in values) / abs(middle) if middle else 0.0


def without_pauses(values: Sequence[float]) -> float | None:
    """Return the usual one of `values`, of which some hold a pause; None of nothing.

    Steady values have none: their median. Else pauses only add: of two clusters that are as dense, the lower one is without them
    (half-sample mode, Robertson and Cryer 1974).
    """
    ordered = sorted(values)
    if len(ordered) <= 2:
        return ordered[0] if ordered else None
    if len(ordered) == 3 or spread(ordered) <= _STEADY:
        return median(ordered)
    size = max(2, math.ceil(len(ordered) * _SHARE))
    best = min(
        range(len(ordered) - size + 1),
        key=lambda i: (ordered[i + size - 1] - ordered[i]) / ordered[i] + 0.02 * i / len(ordered),
    )
    return median(ordered[best : best + size])
