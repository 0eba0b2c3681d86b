"""Whether measurements after a change exceed a limit that those before it set: a rank test, with a confidence."""

from collections.abc import Sequence
from functools import lru_cache
from math import comb


def confidence(before: Sequence[float], after: Sequence[float], share: float) -> float:
    """Return how sure it is that steps took longer after a change than those before it over `share`: 0 to 1.

    That is one less the chance that so many of all pairs show it where the pace lies exactly at the limit (Mann and Whitney's test,
    one-sided and exact). It asks nothing of how measurements are distributed: one pause, however long, is one measurement.

    Args:
        before: Seconds a step, of spans that do not overlap.
        after: The same, after the change.
        share: Share of the throughput before below which a job counts as slowed.
    """
    longer = sum(late * share > early for early in before for late in after)  # a tie shows nothing
    ways = _ways(len(before), len(after))
    return 1 - sum(ways[longer:]) / comb(len(before) + len(after), len(after))


@lru_cache(maxsize=256)
def _ways(one: int, other: int) -> tuple[int, ...]:
    """Return, for each number of pairs that may be so, in how many orders of all measurements that many are."""
    counts = [1]
    for size in range(1, other + 1):  # Gauss' binomial coefficient: times (1 - q^(one + size)), over (1 - q^size)
        counts += [0] * (one + size)
        for place in range(len(counts) - 1, one + size - 1, -1):
            counts[place] -= counts[place - one - size]
        for place in range(size, len(counts)):
            counts[place] += counts[place - size]
        counts = counts[: one * size + 1]
    return tuple(counts)
