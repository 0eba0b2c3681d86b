"""The usual value among values to which pauses were added."""

import math
from collections.abc import Sequence

from processors.track.robust import median, spread

_SHARE = 0.4
"""Of the values that the densest cluster holds: more than a few, fewer than half, since half of the stretches may hold a pause."""


_STEADY = 0.25
"""Relative spread up to which values hold no pauses."""


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
