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
"""What is left is counted in seconds that the log itself expects."""
MOST = 1e18
"""Steps, epochs or seconds that may be left: no training has more, and what a log prints knows no limit."""
MARKS = 64
"""Marks kept of an attempt; where there are more, every other one goes."""
REVISIONS = 1000
"""Estimates made of one attempt."""
MOVED, NARROWER = 0.1, 0.7
"""An estimate is told anew when the end moves by a tenth of what remains, or the interval shrinks to so much of the one told."""
SPACED_S = 10.0
"""Seconds between two estimates of one attempt at least."""


class LastEstimate(msgspec.Struct, frozen=True):
    """The estimate that was made last: when, the end that it expects, and the ends of its interval, all in seconds since 1970.

    `done` is the share of the work that was done then; None where only what remains is known.
    """

    time: float
    end: float
    low: float
    high: float | None
    done: float | None = None


class RemainingState(msgspec.Struct):
    """What is remembered of one attempt.

    Attributes:
        began: When it started; where that is not known, when it was first heard of.
        rank: The rank whose progress counts: the first that tells some.
        progress: What its counters have shown.
        marks: Of its progress, oldest first.
        told: The estimate told last; null where none is in force.
        revision: Of the newest estimate; those below are for what is told of the whole job (`schedmate_records.estimate`).
        over: The attempt has ended.
    """

    began: float | None = None
    rank: int | None = None
    progress: Progress = msgspec.field(default_factory=Progress)
    marks: list[ProgressMark] = []
    told: LastEstimate | None = None
    revision: int = ANSWERED
    over: bool = False


class RemainingMetrics:
    """What the stage has said."""

    def __init__(self) -> None:
        self.estimates = Counter("schedmate_remaining_estimates", "Estimates of the time that remains.", registry=None)
        self.retracted = Counter("schedmate_remaining_retracted", "Estimates taken back.", registry=None)


class Remaining(Stage[RemainingState]):
    """Says how long an attempt still takes, while it runs.

    Its clock is the arrival of reports, so that a replay says the same. Where the log does not show what the end of a counter is the end
    of, it says nothing; where that shows to have been read wrong, it takes back what it said.
    """

    name = "remaining"

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
        """Take in what lines say of the length of the training."""
        if state.began is None:
            state.began = chunk.time
        if state.rank in (None, chunk.rank) and not state.over:
            announced(chunk, state.progress)
        return []

    def on_metric(self, metric: JobMetric, position: Position, state: RemainingState) -> list[Estimate]:
        """Return the estimate that follows from a report, where it differs enough from the one told."""
        if state.over or state.rank not in (None, metric.rank) or (metric.step is None and metric.epoch is None):
            return []
        state.rank = metric.rank
        if state.began is None:
            state.began = metric.since if metric.since is not None else metric.time
        state.progress.take(metric)
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
        if found is None or not (_moved_on(done, state.told) or _material(found, metric.time, state.told)):
            return retracted
        return [*retracted, *self._emit(metric, found, done, position, state)]

    def _emit(
        self, metric: JobMetric, found: RemainingForecast, done: float | None, position: Position, state: RemainingState
    ) -> list[Estimate]:
        if state.revision >= REVISIONS:
            return []
        now, ran = metric.time, metric.time - (state.began if state.began is not None else metric.time)
        state.told = LastEstimate(now, now + found.remaining_s, now + found.low_s, _plus(now, found.high_s), done)
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
        if state.told is None:
            return []
        state.told = None
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


def _moved_on(done: float | None, told: LastEstimate | None) -> bool:
    """Return whether a hundredth more of the work is done than was stated, or all of it."""
    if done is None or told is None or told.done is None:
        return False
    return done >= told.done + 0.01 or done == 1 > told.done


def _material(found: RemainingForecast, now: float, told: LastEstimate | None) -> bool:
    """Return whether `found` differs enough from what was told: an end elsewhere, or a much narrower interval."""
    if told is None:
        return True
    if now < told.time + SPACED_S:
        return False
    moved = abs(now + found.remaining_s - told.end)
    if moved > MOVED * max(found.remaining_s, SPACED_S) or (found.high_s is None) != (told.high is None):
        return True
    return (
        found.high_s is not None
        and told.high is not None
        and found.high_s - found.low_s < NARROWER * (told.high - told.low)
    )


def _plus(base: float, more: float | None) -> float | None:
    return None if more is None else base + more
