"""One number for a job of several ranks, and which rank holds the others up."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class RankSpread:
    """Step times over the ranks of a job.

    Attributes:
        step_time_s: Of the job: the median over the ranks.
        spread: Longest less shortest, over the median.
        slowest: The rank with the longest step time.
        lag: Its step time over the median; ranks that wait for one another all show 1.
        ranks: How many ranks were measured.
    """

    step_time_s: float
    spread: float
    slowest: int
    lag: float
    ranks: int


def over_ranks(step_times: Mapping[int, float]) -> RankSpread | None:
    """Return the spread over ranks of `step_times`, in seconds by rank; None of fewer than two."""
    known = {rank: seconds for rank, seconds in step_times.items() if seconds > 0}
    if len(known) < 2:
        return None
    middle = median(known.values())
    slowest = max(sorted(known), key=lambda rank: known[rank])
    return RankSpread(
        step_time_s=middle,
        spread=(max(known.values()) - min(known.values())) / middle,
        slowest=slowest,
        lag=known[slowest] / middle,
        ranks=len(known),
    )
