"""Spans of a job's output that do not overlap, how long a step took in each, and whether a change between them is more than chance.

The medians of metrics rest on windows that overlap, so that ten of them may repeat one observation ten times. Two metrics that name
their steps make a span: the time between them over the steps between them. Where steps are not named, spans are windows that do not
overlap. Whether spans after a change exceed a limit that those before it set is a rank test, with a confidence.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import comb

import msgspec

from schedmate_records import Evidence, JobMetric


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


class Measure(msgspec.Struct, frozen=True, gc=False):
    """A usable metric. `since`: where its window begins."""

    time: float
    step_time_s: float
    step: int | None
    evidence: Evidence | None
    since: float | None = None
    name: str = ""

    @classmethod
    def from_metric(cls, metric: JobMetric) -> "Measure":
        """Return what is remembered of a metric that has a step time."""
        assert metric.step_time_s is not None
        line = metric.evidence[0] if metric.evidence else None
        return cls(metric.time, metric.step_time_s, metric.step, line, metric.since, metric.step_name)

    def follows(self, other: "Measure") -> bool:
        """True where it counts on from `other`: the same counter, no lower."""
        return self.step is not None and other.step is not None and self.name == other.name and self.step >= other.step


def between(measures: Iterable[Measure], *, by_steps: bool, steady: bool = False) -> list[float]:
    """Return seconds per step of the spans that measures make, oldest first. Those that go back, or count otherwise, make none.

    Args:
        measures: In the order of time.
        by_steps: Steps over time; else windows that do not overlap.
        steady: No span counts as slower than the median of the reports at its end, since a pause is not the pace; and the window of
            the first one is a span, too.
    """
    spans: list[float] = []
    last: Measure | None = None
    for one in measures:
        if last is None:
            last = one
            if steady and one.since is not None and one.since < one.time:
                spans.append(one.step_time_s)
            continue
        if by_steps:
            steps = (one.step or 0) - (last.step or 0)
            if not one.follows(last):
                last = one
            # Lines come in bursts: spans below 1.5 s are inaccurate.
            elif steps and one.time >= last.time + 1.5:
                pace = (one.time - last.time) / steps
                spans.append(min(pace, one.step_time_s) if steady else pace)
                last = one
        elif one.since is not None and one.since >= last.time:
            spans.append(one.step_time_s)
            last = one
    return spans
