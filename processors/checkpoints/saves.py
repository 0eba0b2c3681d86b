"""State of an attempt's saves, and the records derived from it."""

from dataclasses import dataclass

import msgspec

from schedmate_records import Checkpoint, CheckpointState, DurableBy, Evidence, Position, derived_id

from ..read.robust import median
from .language import SaveReport

SPACED_S = 1.0
"""Minimum number of seconds between the begins of two saves. It limits the cost of logs that report a save in every line."""
NEWEST = 8
"""Saves whose durations and intervals are remembered."""


class Save(msgspec.Struct):
    """One save.

    Attributes:
        number: Counted within the attempt.
        time: Arrival of its first line, in seconds since 1970.
        newest: Arrival of its newest line.
        first: Its first line; null if no line reported its begin.
        node: Host that reported it.
        rank: Rank that reported it.
        step: Training step.
        path: Where.
        asynchronous: Its lines state that training continues during the save.
        progressed: Training was seen to go on since it began.
        state: How far it has come.
    """

    number: int
    time: float
    newest: float
    first: Evidence
    node: str = ""
    rank: int = 0
    step: int | None = None
    path: str = ""
    asynchronous: bool = False
    progressed: bool = False
    state: CheckpointState = CheckpointState.STARTED

    @property
    def is_over(self) -> bool:
        """Whether it is durable or has failed."""
        return self.state is not CheckpointState.STARTED


class CheckpointsState(msgspec.Struct):
    """State of an attempt.

    Attributes:
        save: The newest save.
        count: Saves so far.
        reporter: The rank whose saves count: the lowest that reported one.
        completes: The job's own lines report when a save is complete.
        durations: Seconds that the newest saves took.
        intervals: Seconds between the beginnings of the newest saves.
        rank: The rank whose progress counts: the lowest that reports.
        reports: Its reports so far; those that came at one moment, out of a buffer, count once.
        since: Arrival of the first of them.
        until: Arrival of the newest of them.
        ended: When the attempt ended well.
    """

    save: Save | None = None
    count: int = 0
    reporter: int | None = None
    completes: bool = False
    durations: list[float] = []
    intervals: list[float] = []
    rank: int | None = None
    reports: int = 0
    since: float = 0.0
    until: float = 0.0
    ended: float | None = None

    @property
    def usual_gap_s(self) -> float:
        """Mean seconds between two reports; 0 before the second."""
        return (self.until - self.since) / (self.reports - 1) if self.reports > 1 else 0.0

    def wants(self, time: float, report: SaveReport) -> bool:
        """Return whether a line that arrived at `time` may change anything: saves nearer to each other than `SPACED_S` count as one."""
        save = self.save
        if save is None or report is SaveReport.FAILED or not save.time <= time < save.time + SPACED_S:
            return True
        return not save.is_over and report in (SaveReport.COMPLETE, SaveReport.TRACKER)

    def begin(self, save: Save) -> None:
        """Make `save` the newest one."""
        if self.save is not None:
            self.intervals = [*self.intervals, max(save.time - self.save.time, 0.0)][-NEWEST:]
        self.count = save.number
        self.save = save


@dataclass(frozen=True)
class SaveSource:
    """Evidence that a save began, became durable or failed: a line, or the end of the attempt.

    Attributes:
        job: The job.
        attempt: Restart count.
        position: Its position in the input.
        time: Arrival, in seconds since 1970.
        line: The line; None for the end of the attempt.
    """

    job: str
    attempt: int
    position: Position
    time: float
    line: Evidence | None = None


def started(source: SaveSource, state: CheckpointsState, save: Save) -> Checkpoint:
    """Return that `save` begins."""
    return _record(source, state, save, CheckpointState.STARTED)


def failed(source: SaveSource, state: CheckpointsState, save: Save) -> Checkpoint:
    """Return that `save` failed."""
    save.state = CheckpointState.FAILED
    return _record(source, state, save, save.state)


def durable(
    by: DurableBy, source: SaveSource, state: CheckpointsState, save: Save, duration_s: float | None = None
) -> Checkpoint:
    """Return that `save` is durable. `duration_s`: how long it took, where that is known."""
    save.state = CheckpointState.DURABLE
    if duration_s is not None:
        state.durations = [*state.durations, duration_s][-NEWEST:]
    return _record(source, state, save, save.state, by, duration_s)


def _record(  # noqa: PLR0917  # the save, what shows its state, and that state
    source: SaveSource,
    state: CheckpointsState,
    save: Save,
    stage: CheckpointState,
    by: DurableBy | None = None,
    duration_s: float | None = None,
) -> Checkpoint:
    line = source.line
    return Checkpoint(
        id=derived_id(f"checkpoint_{save.number}_{stage}", source.job, source.position, line.line if line else 0),
        job=source.job,
        attempt=source.attempt,
        node=save.node,
        rank=save.rank,
        number=save.number,
        state=stage,
        durable_by=by,
        time=source.time,
        since=save.time,
        step=save.step,
        path=save.path,
        asynchronous=save.asynchronous,
        duration_s=duration_s,
        usual_duration_s=median(state.durations) if state.durations else None,
        interval_s=median(state.intervals) if state.intervals else None,
        evidence=[save.first, line] if line and line != save.first else [save.first],
    )
