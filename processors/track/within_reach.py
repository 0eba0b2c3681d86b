"""Numbers that no training has: a line may print infinity, or a product of what it prints may come to it.

JSON knows no infinity: a result that holds one could not be read, nor the state of a job that remembers one.
"""

from math import isfinite

import msgspec

from records import JobMetric

SHORTEST_S, LONGEST_S = 1e-9, 366 * 86_400.0
"""Seconds of a step: a nanosecond, a year."""
_FINITE = ("epoch", "left_s", "throughput")


def within_reach(metric: JobMetric) -> JobMetric:
    """Return `metric` with null for a number that cannot be."""
    unknown: dict[str, object] = {
        name: None for name in _FINITE if (value := getattr(metric, name)) is not None and not isfinite(value)
    }
    if "throughput" in unknown:
        unknown["throughput_unit"] = None
    if metric.step_time_s is not None and not metric.step_time_s <= LONGEST_S:
        unknown |= {"step_time_s": None, "method": "unknown"}
    return msgspec.structs.replace(metric, confidence=0.0, **unknown) if unknown else metric
