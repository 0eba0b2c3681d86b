"""Estimated starts of waiting jobs, as records: kept so that they can be compared with the actual starts."""

import math
from collections.abc import Iterable, Mapping

from schedmate_records import StartEstimate
from scheduler_bridge.schedulers.queue import WaitingJob

from ..simulate.starts import StartRange


def estimates(ranges: Iterable[StartRange], waiting: Mapping[str, WaitingJob], now: float) -> list[StartEstimate]:
    """Return a record of each range that is not empty. `waiting`: the jobs by their ids; `now` in seconds since 1970."""
    return [
        StartEstimate(
            id=f"start/{each.job}/{waiting[each.job].view.attempt}/{now:.0f}",
            job=each.job,
            attempt=waiting[each.job].view.attempt,
            incarnation=waiting[each.job].view.incarnation,
            time=now,
            expected_s=_known_s(each.expected),
            low_s=_known_s(each.low),
            high_s=_known_s(each.high),
            chance=each.chance,
            method="queue",
        )
        for each in ranges
        if each.chance
    ]


def _known_s(seconds: float) -> float | None:
    """Return `seconds`, or null where they never end."""
    return seconds if math.isfinite(seconds) else None
