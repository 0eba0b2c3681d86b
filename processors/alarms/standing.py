"""The active alarms of an attempt, and their records. Each alarm is raised once until it is over, by any stage."""

from dataclasses import dataclass

import msgspec

from schedmate_records import Alarm, AlarmKind, Evidence, GpuState, Position, derived_id

ALARMS = 50
"""Alarms that a stage raises in one attempt. A further one of a job with so many is no news."""


@dataclass(frozen=True)
class Seen:
    """Contents of an alarm without its kind."""

    job: str
    attempt: int
    time: float
    detail: str
    value: float | None = None
    usual: float | None = None
    limit: float | None = None
    node: str = ""
    rank: int | None = None
    evidence: tuple[Evidence | None, ...] = ()
    activity: GpuState | None = None
    gpu_hours: float | None = None


class StandingAlarms(msgspec.Struct):
    """State of the alarms of an attempt.

    Attributes:
        raised: Active alarms by kind, and when they began.
        raised_so_far: Those raised so far.
    """

    raised: dict[str, float] = {}
    raised_so_far: int = 0

    def begin(self, kind: AlarmKind, since: float, seen: Seen, position: Position) -> Alarm | None:
        """Return the alarm; None where it is active already, or too many were raised."""
        if kind in self.raised or self.raised_so_far >= ALARMS:
            return None
        self.raised[kind] = since
        self.raised_so_far += 1
        return self._record(kind, since, seen, position, raised=True)

    def amend(self, kind: AlarmKind, seen: Seen, position: Position) -> Alarm | None:
        """Return the active alarm with what is known better now; None where none of that kind is active, or too many were raised."""
        since = self.raised.get(kind)
        if since is None or self.raised_so_far >= ALARMS:
            return None
        self.raised_so_far += 1
        return self._record(kind, since, seen, position, raised=True)

    def end(self, kind: AlarmKind, seen: Seen, position: Position) -> Alarm | None:
        """Return the record that the alarm is over; None where none of that kind is active."""
        since = self.raised.pop(kind, None)
        return None if since is None else self._record(kind, since, seen, position, raised=False)

    def _record(self, kind: AlarmKind, since: float, seen: Seen, position: Position, *, raised: bool) -> Alarm:
        return Alarm(
            id=derived_id(f"alarm_{kind}", seen.job, position, self.raised_so_far * 2 + raised),
            job=seen.job,
            attempt=seen.attempt,
            node=seen.node,
            rank=seen.rank,
            kind=kind,
            raised=raised,
            time=seen.time,
            since=since,
            value=seen.value,
            usual=seen.usual,
            limit=seen.limit,
            activity=seen.activity,
            gpu_hours=seen.gpu_hours,
            detail=seen.detail,
            evidence=[each for each in seen.evidence if each is not None],
        )
