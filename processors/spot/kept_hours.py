"""Eviction rate: evictions against guaranteed periods that were kept.

The authors' published code counts this way (Sjtucitlab/Spot), where the paper has evictions of each start. A job that runs for five
guaranteed hours counts five times, and one that ends within its first period does not count.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

RunKey = TypeVar("RunKey")
Span = tuple[float, float]
"""Start of a spot job, and its end or the last time it was seen running, in seconds."""


def eviction_rate(spans: Iterable[Span], evictions: int, since: float, period_s: float) -> float:
    """Return evictions over evictions and guaranteed periods that were kept; 0 if there were neither.

    Args:
        spans: The runs of spot jobs.
        evictions: Evictions after `since`.
        since: Periods that ended after this time count.
        period_s: Length of a guaranteed period, in seconds.
    """
    kept = sum(
        _count_periods(end - start, period_s) - _count_periods(since - start, period_s)
        for start, end in spans
        if end > since
    )
    return evictions / (kept + evictions) if evictions else 0.0


def merge_spans(
    spans: Mapping[RunKey, Span], running: Mapping[RunKey, float], now: float, since: float
) -> dict[RunKey, Span]:
    """Return the runs with those that are seen running now, without those that ended before `since`.

    Args:
        spans: The runs so far.
        running: When each running job started.
        now: The time of the observation.
        since: The earliest end that is kept.
    """
    seen = {**spans, **{key: (start, now) for key, start in running.items()}}
    return {key: span for key, span in seen.items() if span[1] > since}


def _count_periods(seconds: float, period_s: float) -> int:
    return max(0, int(seconds // period_s))
