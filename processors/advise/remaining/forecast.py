"""From marks of progress to the time that remains, with an interval.

The pace of the newer half of what was seen is carried on: it holds evaluations and saves as they come, and follows a job that is slowed or
freed. The interval spans the paces of all that was seen, of its newer half and of its newest quarter, widened by what the pace varied by
from mark to mark, and by the longest pause, since an evaluation or a save may stand at the end.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite, sqrt

import msgspec

LEAST = 4
"""Minimum number of marks for an estimate. The first one is ignored, because it includes the start of the training."""
_WIDE, _FLOOR, _MOST = 1.645, 0.03, 0.9
"""Deviations that hold nine in ten of normal noise; what an interval is wide at least; and what its lower end loses at most."""


class ProgressMark(msgspec.Struct, array_like=True, frozen=True):
    """At `time`, in seconds since 1970, `rest` remained, in any unit."""

    time: float
    rest: float


class RemainingForecast(msgspec.Struct, frozen=True):
    """Seconds that remain after the newest mark, and the 90 % interval around them; without an upper end where none is known."""

    remaining_s: float
    low_s: float
    high_s: float | None


def forecast(
    marks: Sequence[ProgressMark], fewer: float = 1.0, more: float = 0.0, *, open_ended: bool = False
) -> RemainingForecast | None:
    """Return what remains after the newest mark; None where too little was seen.

    Args:
        marks: Oldest first; time grows and what remains falls from each to the next.
        fewer: So much less may remain: a bar shows the unit under way only when it is drawn again.
        more: So much more may remain.
        open_ended: There may be more to do than is known.
    """
    if len(marks) < LEAST:
        return None
    seen = marks[1:]
    rest = seen[-1].rest
    paces = [_pace(seen, share) for share in (1.0, 0.5, 0.25)]
    noise = _FLOOR + _WIDE * _noise(seen)
    pause = max(0.0, *(later.time - mark.time - paces[0] * (mark.rest - later.rest) for mark, later in pairwise(seen)))
    low = max(rest - fewer, 0.0) * min(paces) * (1 - min(noise, _MOST))
    high = (rest + more) * max(paces) * (1 + noise) + pause
    return RemainingForecast(rest * paces[1], low, None if open_ended or not isfinite(high) else high)


def _pace(marks: Sequence[ProgressMark], share: float) -> float:
    """Return the seconds for one unit over the newest `share` of what was done, from mark to mark."""
    last = marks[-1]
    since = last.rest + share * (marks[0].rest - last.rest)
    first = next(mark for mark in reversed(marks[:-1]) if mark.rest >= since or mark is marks[0])
    return (last.time - first.time) / (first.rest - last.rest)


def _noise(marks: Sequence[ProgressMark]) -> float:
    """Return the relative deviation of the pace to come from the pace seen: the means of two samples of one noise differ by so much."""
    parts = [(later.time - mark.time, mark.rest - later.rest) for mark, later in pairwise(marks)]
    done = sum(units for _, units in parts)
    pace = sum(seconds for seconds, _ in parts) / done
    if pace == 0 or len(parts) < 2:
        return 0.0
    strays = [(units, seconds / units / pace - 1) for seconds, units in parts]
    # Multiplied, what is too large is infinite; `**` would raise an error.
    variance = sum(units * (stray * stray) for units, stray in strays) / done
    ahead = max(marks[-1].rest * len(parts) / done, 1.0)
    return sqrt(variance * (1 / len(parts) + 1 / ahead))
