"""The stage: marks of progress in, estimates out whenever they changed materially."""

from collections.abc import Sequence

import msgspec
from prometheus_client import Counter

from schedmate_records import ANSWERED, Estimate, EventKind, JobEvent, JobMetric, Position, derived_id

from ...classified_chunk import ClassifiedChunk
from ...stage import Stage
from .forecast import ProgressMark, RemainingForecast, forecast
from .progress import Progress, Rest, announced

PROGRESS = "progress"
"""`Estimate.method` of what follows from a job's progress."""
UNKNOWN = "unknown"
"""`Estimate.method` of an estimate that takes the one before it back."""
BY_LOG = "seconds by the log"
"""The remaining work is in seconds, as the log states it."""
MOST = 1e18
"""Steps, epochs or seconds that may be left: no training has more, and what a log prints knows no limit."""
MARKS = 64
"""Marks kept of an attempt; where there are more, every other one goes."""
REVISIONS = 1000
"""Estimates made of one attempt."""
MOVED, NARROWER = 0.1, 0.7
"""A new estimate is written when the end moves by this share of the remaining time, or the interval shrinks to this share."""
SPACED_S = 10.0
"""Seconds between two estimates of one attempt at least."""


class LastEstimate(msgspec.Struct, frozen=True):
    """The last estimate: its time, the expected end, and the bounds of the end, all in seconds since 1970.

    `done` is the share of the work that was done then; None where only what remains is known.
    """

    time: float
    end: float
    low: float
    high: float | None
    done: float | None = None


class RemainingState(msgspec.Struct):
    """State of an attempt.

    Attributes:
        began: Its start; the time of its first record if the start is not known.
        rank: The rank whose progress counts: the first one with progress.
        progress: What its counters have shown.
        marks: Of its progress, oldest first.
        last_estimate: The last estimate; null if there is none, or if it was withdrawn.
        revision: Revision of the newest estimate. Lower revisions are for estimates of the whole job (`schedmate_records.estimate`).
        over: The attempt has ended.
    """

    began: float | None = None
    rank: int | None = None
    progress: Progress = msgspec.field(default_factory=Progress)
    marks: list[ProgressMark] = []
    last_estimate: LastEstimate | None = None
    revision: int = ANSWERED
    over: bool = False


class RemainingMetrics:
    """Counts of estimates."""

    def __init__(self) -> None:
        self.estimates = Counter("schedmate_remaining_estimates", "Estimates of the time that remains.", registry=None)
        self.retracted = Counter("schedmate_remaining_retracted", "Estimates withdrawn.", registry=None)


class Remaining(Stage[RemainingState]):
    """Estimates the remaining time of a running attempt.

    Its clock is the arrival of reports, so that a replay gives the same estimates. There is no estimate while the log does not show what
    a counter counts. An estimate is withdrawn if a counter turns out to be misread.
    """

    name = "remaining"
    state = RemainingState
    order = 50

    def __init__(self) -> None:
        self.metrics = RemainingMetrics()

    def metric_groups(self) -> Sequence[object]:
        """Return its metrics."""
        return (self.metrics,)

    def on_event(self, event: JobEvent, position: Position, state: RemainingState) -> list[Estimate]:
        """Take notice of the start and the end of the attempt."""
        if event.kind is EventKind.STARTED:
            state.began = event.time
        state.over |= event.kind is EventKind.ENDED
        return []

    def on_superseded(
        self, job: str, attempt: int, time: float, position: Position, state: RemainingState
    ) -> list[Estimate]:
        """Take notice that the attempt is over."""
        state.over = True
        return []

    def on_reopened(
        self, job: str, attempt: int, time: float, position: Position, state: RemainingState
    ) -> list[Estimate]:
        """Estimate again."""
        state.over = False
        return []

    def on_chunk(self, chunk: ClassifiedChunk, position: Position, state: RemainingState) -> list[Estimate]:
        """Add what lines state about the length of the training."""
        if state.began is None:
            state.began = chunk.time
        if state.rank in (None, chunk.rank) and not state.over:
            announced(chunk, state.progress)
        return []

    def on_metric(self, metric: JobMetric, position: Position, state: RemainingState) -> list[Estimate]:
        """Return the estimate that follows from a report, if it differs enough from the last one."""
        if state.over or state.rank not in (None, metric.rank) or (metric.step is None and metric.epoch is None):
            return []
        state.rank = metric.rank
        if state.began is None:
            state.began = metric.since if metric.since is not None else metric.time
        state.progress.add(metric)
        left = state.progress.rest()
        if left is None and metric.step_total is None and metric.left_s:
            left = Rest(BY_LOG, metric.left_s)
        if left is None or not 0 <= left.units <= MOST:
            return self._retract(metric, position, state)
        retracted = []
        if left.unit != state.progress.unit or (state.marks and left.units > state.marks[-1].rest):
            retracted = self._retract(metric, position, state)
            state.progress.unit, state.marks = left.unit, []
        _mark(ProgressMark(metric.time, left.units), state)
        fewer, more = (0.0 if left.unit == BY_LOG else 1.0), (1.0 if left.unit == "epochs" else 0.0)
        found = forecast(state.marks, fewer, more, open_ended=left.open_ended)
        done = _done(state.progress, left.units)
        if found is None or not (
            _moved_on(done, state.last_estimate) or _material(found, metric.time, state.last_estimate)
        ):
            return retracted
        return [*retracted, *self._emit(metric, found, done, position, state)]

    def _emit(
        self, metric: JobMetric, found: RemainingForecast, done: float | None, position: Position, state: RemainingState
    ) -> list[Estimate]:
        if state.revision >= REVISIONS:
            return []
        now, ran = metric.time, metric.time - (state.began if state.began is not None else metric.time)
        state.last_estimate = LastEstimate(
            now, now + found.remaining_s, now + found.low_s, _plus(now, found.high_s), done
        )
        state.revision += 1
        self.metrics.estimates.inc()
        return [
            Estimate(
                id=derived_id("estimate", metric.job, position, state.revision),
                job=metric.job,
                attempt=metric.attempt,
                revision=state.revision,
                time=now,
                duration_s=ran + found.remaining_s,
                duration_low_s=ran + found.low_s,
                duration_high_s=_plus(ran, found.high_s),
                remaining_s=found.remaining_s,
                remaining_low_s=found.low_s,
                remaining_high_s=found.high_s,
                done=done,
                method=PROGRESS,
                evidence=metric.evidence[:1],
            )
        ]

    def _retract(self, metric: JobMetric, position: Position, state: RemainingState) -> list[Estimate]:
        state.marks = []
        if state.last_estimate is None:
            return []
        state.last_estimate = None
        state.revision += 1
        self.metrics.retracted.inc()
        return [
            Estimate(
                id=derived_id("estimate", metric.job, position, state.revision),
                job=metric.job,
                attempt=metric.attempt,
                revision=state.revision,
                time=metric.time,
                method=UNKNOWN,
                evidence=metric.evidence[:1],
            )
        ]


def _mark(mark: ProgressMark, state: RemainingState) -> None:
    """Add a mark where something was done since the last one."""
    marks = state.marks
    if marks and (mark.rest >= marks[-1].rest or mark.time <= marks[-1].time):
        return
    marks.append(mark)
    if len(marks) > MARKS:
        state.marks = [*marks[:-1:2], marks[-1]]


def _done(progress: Progress, rest: float) -> float | None:
    """Return the share of the work that is done; None where only what remains is known."""
    whole: float | None = None
    match progress.unit:
        case "steps":
            whole = progress.total
        case "announced steps":
            whole = progress.announced_steps
        case "epochs":
            whole = progress.epochs or progress.announced
        case "steps of epochs":
            whole = (progress.total or 0) * (progress.epochs or progress.announced or 0)
        case _:
            pass
    return 1 - rest / whole if whole else None


def _moved_on(done: float | None, last: LastEstimate | None) -> bool:
    """Return whether a hundredth more of the work is done than was stated, or all of it."""
    if done is None or last is None or last.done is None:
        return False
    return done >= last.done + 0.01 or done == 1 > last.done


def _material(found: RemainingForecast, now: float, last: LastEstimate | None) -> bool:
    """Return whether `found` differs enough from the last estimate: another end, or a much narrower interval."""
    if last is None:
        return True
    if now < last.time + SPACED_S:
        return False
    moved = abs(now + found.remaining_s - last.end)
    if moved > MOVED * max(found.remaining_s, SPACED_S) or (found.high_s is None) != (last.high is None):
        return True
    return (
        found.high_s is not None
        and last.high is not None
        and found.high_s - found.low_s < NARROWER * (last.high - last.low)
    )


def _plus(base: float, more: float | None) -> float | None:
    return None if more is None else base + more
