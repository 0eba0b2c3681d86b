"""When an attempt ran, where, and how it ended, from the events of schedulers and pipes: the view `attempts`, for one job.

What pipes report counts only for jobs that no scheduler has reported (`JobRecords.events`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .records import JobRecords, Row


def ran(records: JobRecords, attempt: int) -> Row | None:
    """Return when and where `attempt` ran and how it ended; None if no event reports its start.

    An attempt without a reported end ended, at the latest, when the next one started.
    """
    reported = attempt_facts(records, attempt)
    if reported["started"] is None:
        return None
    ended = reported["last_end"]
    if ended is None or ended < reported["started"]:
        later = sorted({row["attempt"] for row in records.events if row["attempt"] > attempt})
        starts = (attempt_facts(records, each)["started"] for each in later)
        ended = next((start for start in starts if start is not None), None)
    names = ("started", "nodes", "gpus", "user", "state", "exit_code", "signal")
    return {"job": records.job, "attempt": attempt, "ended": ended, **{name: reported[name] for name in names}}


def attempt_facts(records: JobRecords, attempt: int) -> Mapping[str, Any]:
    """Return what events report of `attempt`: when it `started`, its `last_end` (null for none), and how it ended."""
    events = [row for row in records.events if row["attempt"] == attempt]
    starts = _of_kind(events, "started")
    first = min(starts, key=_time, default=None)
    start, end = _last(starts), _last(_of_kind(events, "ended"))
    return {
        "started": first["time"] if first else None,
        "last_end": _last(_of_kind(events, "ended", "requeued")).get("time"),
        "nodes": start.get("nodes", []),
        "gpus": start.get("gpus") or 0.0,
        "user": _last(_of_kind(events, "started", "submitted")).get("user", ""),
        "state": end.get("state", ""),
        "exit_code": end.get("exit_code"),
        "signal": end.get("signal"),
        "last_kind": _last(_of_kind(events, "submitted", "started", "requeued", "ended")).get("kind", ""),
    }


def _of_kind(events: Iterable[Row], *kinds: str) -> list[Row]:
    return [row for row in events if row["kind"] in kinds]


def _last(events: Sequence[Row]) -> Row:
    return max(events, key=_time, default={})


def _time(event: Row) -> Any:
    return event["time"]
