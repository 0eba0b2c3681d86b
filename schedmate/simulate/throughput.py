"""Lucid's forecast of quiet hours, which decides about packing."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

STEP_S = 600.0
"""Lucid counts submissions in ten minutes."""
WINDOW = 5
"""Steps over which they are averaged."""
QUIET = 2.0
"""Submissions in ten minutes up to which a cluster is quiet."""


def quiet_times(submissions: Sequence[float]) -> Callable[[float], tuple[bool, float]]:
    """Return a function of the time: whether the cluster is quiet, and when to ask again.

    The forecast is persistence: the next 50 minutes are taken to be as the last 50. Lucid's simulator reads the forecast of a model of
    its own from a file.

    Args:
        submissions: When jobs were submitted, ascending.
    """
    if not submissions:
        return lambda _: (True, float("inf"))
    last = submissions[-1]

    def quiet(now: float) -> tuple[bool, float]:
        until = now // STEP_S * STEP_S
        seen = bisect_left(submissions, until) - bisect_left(submissions, until - WINDOW * STEP_S)
        done = now > last + (WINDOW + 1) * STEP_S
        return seen / WINDOW <= QUIET, float("inf") if done else until + STEP_S

    return quiet
