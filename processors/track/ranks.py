"""One number for a job of several ranks, and which rank holds the others up."""

from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from schedmate_records import JobMetric, OverRanks

from .reports import Report
from .summary import LONGEST_S, SHORTEST_S

RANKS = 4096
"""Ranks remembered of a job; further ones are left out."""
LATELY_S = 300.0
"""A rank that has not reported for so long before the newest report is left out."""
_SHARE = 8
"""All ranks are looked at again once an eighth of them has reported: the cost of a report stays the same however many there are."""


class RankPace(msgspec.Struct, array_like=True):
    """The newest step time of a rank, in seconds, and its arrival."""

    time: float
    step_time_s: float


class RanksState(msgspec.Struct):
    """The ranks of one attempt.

    Attributes:
        paces: By rank.
        since: Reports since all ranks were last looked at.
    """

    paces: dict[int, RankPace] = {}
    since: int = 0


def merge_ranks(metric: JobMetric, state: RanksState) -> JobMetric:
    """Take a metric of one rank; return it with `over_ranks` where it is time to look at all ranks. `state` moves on."""
    if metric.step_time_s is None or metric.over_ranks is not None:
        return metric
    if metric.rank not in state.paces and len(state.paces) >= RANKS:
        return metric
    state.paces[metric.rank] = RankPace(metric.time, metric.step_time_s)
    state.since += 1
    if len(state.paces) < 2 or state.since * _SHARE < len(state.paces):
        return metric
    state.since = 0
    newest = max(pace.time for pace in state.paces.values())
    state.paces = {rank: pace for rank, pace in state.paces.items() if pace.time > newest - LATELY_S}
    found = over_ranks({rank: pace.step_time_s for rank, pace in state.paces.items()})
    return msgspec.structs.replace(metric, over_ranks=found)


def ranks_of_stream(window: Sequence[Report], own: float | None) -> OverRanks | None:
    """Return the spread over the ranks that print into one stream, each behind its number; None of fewer than two.

    Args:
        window: Reports, oldest first.
        own: Step time of the rank whose lines the reports are.
    """
    others = {rank for report in window for rank in report.ranks}
    rank = next((report.rank for report in reversed(window) if report.rank is not None), None)
    if not others or own is None or rank is None:
        return None
    times = {
        other: median(report.ranks[other] for report in window if other in report.ranks) for other in others - {rank}
    }
    return over_ranks({rank: own, **times})


def over_ranks(step_times: Mapping[int, float]) -> OverRanks | None:
    """Return the spread over ranks of `step_times`, in seconds by rank; None of fewer than two."""
    known = {rank: seconds for rank, seconds in step_times.items() if SHORTEST_S <= seconds <= LONGEST_S}
    if len(known) < 2:
        return None
    middle = median(known.values())
    slowest = max(sorted(known), key=lambda rank: known[rank])
    return OverRanks(
        ranks=len(known),
        step_time_s=middle,
        spread=(max(known.values()) - min(known.values())) / middle,
        slowest=slowest,
        lag=known[slowest] / middle,
    )
