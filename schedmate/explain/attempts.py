"""Time, nodes, end and state of an attempt, from the events of schedulers and pipes: the view `attempts`, for one job.

What pipes report counts only for jobs that no scheduler has reported (`JobRecords.events`).
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..job_state import JobState, Phase, StateAlarm, job_state
from ..times import seconds_of
from .records import JobRecords, Row, in_force


def ran(records: JobRecords, attempt: int) -> Row | None:
    """Return when and where `attempt` ran and how it ended; None if no event reports its start."""
    reported = attempt_facts(records, attempt)
    if reported["started"] is None:
        return None
    names = ("started", "ended", "nodes", "gpus", "user", "state", "exit_code", "signal")
    return {"job": records.job, "attempt": attempt, **{name: reported[name] for name in names}}


def attempt_state(records: JobRecords, attempt: int, now: float, reported: datetime | None = None) -> JobState:
    """Return the state of an attempt at `now`, in seconds since 1970. `reported` is the time of its newest progress."""
    known, verdict = attempt_facts(records, attempt), in_force(records).get(attempt)
    events = [row["time"] for row in records.events if row["attempt"] == attempt]
    changed, ended = max(events, default=reported), known["ended"]
    cause = "" if verdict is None or verdict["error_type"] == "none" else verdict["signature"] or verdict["error_type"]
    return job_state(
        known["phase"],
        started=seconds_of(known["started"]),
        ended=seconds_of(ended),
        changed=seconds_of(changed),
        scheduler_state=known["state"],
        exit_code=known["exit_code"],
        signal=known["signal"],
        cause=cause,
        alarms=attempt_alarms(records, attempt),
        now=now,
    )


def attempt_alarms(records: JobRecords, attempt: int) -> list[StateAlarm]:
    """Return the alarms of an attempt."""
    return [
        StateAlarm(row["kind"], row["detail"], row["since"].timestamp(), seconds_of(row["over"]))
        for row in records.alarms
        if row["attempt"] == attempt
    ]


def attempt_facts(records: JobRecords, attempt: int) -> Mapping[str, Any]:
    """Return what events report of `attempt`: its `phase`, when it `started` and `ended` (null for not), where, and how it ended.

    An attempt without a reported end ended, at the latest, when the next one started.
    """
    events = [row for row in records.events if row["attempt"] == attempt]
    starts = _of_kind(events, "started")
    first = min(starts, key=_time, default=None)
    start, end = _last(starts), _last(_of_kind(events, "ended"))
    started = first["time"] if first else None
    last_kind = _last(_of_kind(events, "submitted", "started", "requeued", "ended")).get("kind", "")
    ended = _end(records, attempt, started, _last(_of_kind(events, "ended", "requeued")).get("time"))
    is_newest = not any(row["attempt"] > attempt for row in records.events)
    return {
        "phase": _phase(last_kind, started, ended, is_newest=is_newest) if events else "unknown",
        "started": started,
        "ended": ended,
        "nodes": start.get("nodes", []),
        "gpus": start.get("gpus"),
        "user": _last(_of_kind(events, "started", "submitted")).get("user", ""),
        "name": _last([row for row in records.events if row["name"]]).get("name", ""),
        "state": end.get("state", "") if end or is_newest else "REQUEUED",
        "exit_code": end.get("exit_code"),
        "signal": end.get("signal"),
    }


def _end(records: JobRecords, attempt: int, started: datetime | None, last_end: datetime | None) -> datetime | None:
    if started is None or (last_end is not None and last_end >= started):
        return last_end
    later = [row["time"] for row in _of_kind(records.events, "started") if row["attempt"] > attempt]
    return min(later, default=None)


def _phase(last_kind: str, started: datetime | None, ended: datetime | None, *, is_newest: bool) -> Phase:
    if is_newest and (last_kind == "requeued" or started is None):
        return "queued"
    return "running" if ended is None else "ended"


def _of_kind(events: Iterable[Row], *kinds: str) -> list[Row]:
    return [row for row in events if row["kind"] in kinds]


def _last(events: Sequence[Row]) -> Row:
    return max(events, key=_time, default={})


def _time(event: Row) -> Any:
    return event["time"]
