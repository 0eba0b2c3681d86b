"""Medians that a few odd values do not move."""

from collections.abc import Iterable, Sequence

_SIGMA = 1.4826
"""Makes the median absolute deviation of normal noise its standard deviation."""

_CUT = 5.0
_FLOOR = 0.05
"""Deviations below this share of the median are never odd: many logs print few digits."""


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
