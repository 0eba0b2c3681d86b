"""The alarms of one job that its own numbers raise: a loss that is no number, a loss spike, steps that became slower, a straggler."""

from collections.abc import Sequence

import msgspec
from prometheus_client import Counter

from schedmate_records import Alarm, AlarmKind, EventKind, Evidence, JobEvent, JobMetric, Position

from ..grammar.extractor import Extractor
from ..grammar.names import Meaning
from ..read.robust import median
from ..stage import Stage
from ..track.not_finite import is_not_finite
from .level import Crossing, Level, deviations
from .standing import Seen, StandingAlarms

SURE = 0.5
"""Step times below this confidence raise no alarm."""
UNMEASURED = 5
"""First reports of a job of which a loss that is no number is no alarm: an average over nothing yet is printed as NaN."""


class AlarmState(StandingAlarms):
    """State of an attempt.

    Attributes:
        over: It has ended.
        loss: Losses of the rank `loss_rank`, the first that reported one.
        newest_loss: The newest of them: a metric without a new loss repeats it.
        not_finite: Since when the loss is no finite number, in words; empty while it is one.
        not_finite_line: The line that shows it.
        pace: Step times of the rank `pace_rank`, the first that reported one, one every 10 s.
        pace_time: Arrival of the newest of them.
        slowest: The rank that is slowest.
        lagging: Looks at all ranks in a row that found it a straggler.
        lagging_since: Arrival of the first of them.
    """

    over: bool = False
    loss: Level = msgspec.field(default_factory=Level)
    loss_rank: int | None = None
    newest_loss: float | None = None
    not_finite: str = ""
    not_finite_line: Evidence | None = None
    pace: Level = msgspec.field(default_factory=Level)
    pace_rank: int | None = None
    pace_time: float = 0.0
    slowest: int | None = None
    lagging: int = 0
    lagging_since: float = 0.0


class AlarmMetrics:
    """Counts of alarms."""

    def __init__(self) -> None:
        self.raised = Counter("schedmate_alarm_monitor_raised", "Alarms raised.", registry=None)
        self.over = Counter("schedmate_alarm_monitor_over", "Alarms that ended.", registry=None)


class AlarmMonitor(Stage[AlarmState]):
    """Takes a job's metrics; returns an alarm when something begins to be wrong and when it is over.

    Every limit is relative to the job's own past. Each alarm is raised once, until it is over.

    Args:
        slower: A step time over its usual one above which steps are slower.
        straggler: The slowest rank's step time over the median above which it is a straggler.
    """

    name = "alarms"
    state = AlarmState
    order = 20

    def __init__(self, slower: float = 1.5, straggler: float = 1.25) -> None:
        if slower <= 1 or straggler <= 1:
            raise ValueError(f"expected ratios above 1, got {slower} and {straggler}")
        self.slower = slower
        self.straggler = straggler
        self.metrics = AlarmMetrics()

    def metric_groups(self) -> Sequence[object]:
        """Return its metrics."""
        return (self.metrics,)

    def on_metric(self, metric: JobMetric, position: Position, state: AlarmState) -> list[Alarm]:
        """Return what begins or is over with a metric."""
        if state.over:
            return []
        found = [
            self._not_finite(metric, state, position),
            self._spike(metric, state, position),
            self._slower(metric, state, position),
            self._straggler(metric, state, position),
        ]
        return [alarm for alarm in found if alarm is not None]

    def on_event(self, event: JobEvent, position: Position, state: AlarmState) -> list[Alarm]:
        """Return the end of all active alarms when the attempt ends."""
        if event.kind is not EventKind.ENDED:
            return []
        return self._end(Seen(event.job, event.attempt, event.time, "The attempt has ended"), position, state)

    def on_superseded(self, job: str, attempt: int, time: float, position: Position, state: AlarmState) -> list[Alarm]:
        """Return the end of all active alarms when a newer attempt begins."""
        return self._end(Seen(job, attempt, time, "A newer attempt has begun"), position, state)

    def on_reopened(self, job: str, attempt: int, time: float, position: Position, state: AlarmState) -> list[Alarm]:
        """Raise alarms again."""
        state.over = False
        return []

    def _end(self, seen: Seen, position: Position, state: AlarmState) -> list[Alarm]:
        state.over = True
        found = [self._end_alarm(AlarmKind(kind), seen, position, state) for kind in list(state.raised)]
        return [alarm for alarm in found if alarm is not None]

    def _not_finite(self, metric: JobMetric, state: AlarmState, position: Position) -> Alarm | None:
        kind = AlarmKind.LOSS_NOT_FINITE
        if metric.loss_not_finite:
            if not state.not_finite:
                lines = [each for each in metric.evidence if is_not_finite(each.text)]
                state.not_finite_line = min(lines, key=lambda each: (each.offset, each.line), default=_first(metric))
                state.not_finite = _not_finite_since(state.not_finite_line, metric)
            if state.newest_loss is None and metric.reports <= UNMEASURED:
                return None
            seen = _observation(metric, state.not_finite, evidence=(state.not_finite_line, state.loss.evidence))
            return self._raise(kind, metric.time, seen, position, state)
        if metric.loss is None:
            return None
        state.not_finite, state.not_finite_line = "", None
        return self._end_alarm(
            kind, _observation(metric, f"Loss is a number again{_step_text(metric)}"), position, state
        )

    def _spike(self, metric: JobMetric, state: AlarmState, position: Position) -> Alarm | None:
        if metric.loss is None or state.loss_rank not in (None, metric.rank) or metric.loss == state.newest_loss:
            return None
        state.loss_rank, state.newest_loss = metric.rank, metric.loss
        level, kept, before = state.loss, state.loss.kept, state.loss.evidence
        change = level.add_value(metric.loss, metric.time, _first(metric), _loss_limit, least=20, row=3)
        if change is Crossing.NONE:
            return None
        usual = median(kept) if kept else 0.0
        if change is Crossing.ABOVE:
            limit = _loss_limit(level.kept)
            detail = f"Loss is {metric.loss:.4g}{_step_text(metric)}, usually about {usual:.4g}"
            seen = _observation(metric, detail, metric.loss, usual, limit, evidence=(_first(metric), before))
            return self._raise(AlarmKind.LOSS_SPIKE, level.since, seen, position, state)
        seen = _observation(metric, f"Loss is {metric.loss:.4g}{_step_text(metric)}", metric.loss, usual)
        return self._end_alarm(AlarmKind.LOSS_SPIKE, seen, position, state)

    def _slower(self, metric: JobMetric, state: AlarmState, position: Position) -> Alarm | None:
        seconds = metric.step_time_s
        if seconds is None or metric.confidence < SURE or state.pace_rank not in (None, metric.rank):
            return None
        # Step times are medians of many reports: those within 10 s repeat each other.
        if metric.time < state.pace_time + 10.0:
            return None
        state.pace_rank, state.pace_time = metric.rank, metric.time
        level, usual, before = state.pace, state.pace.usual, state.pace.evidence
        change = level.add_value(seconds, metric.time, _first(metric), self._pace_limit, least=5, row=3)
        if change is Crossing.ABOVE:
            detail = f"Step time is {seconds:.4g} s, usually {usual:.4g} s"
            seen = _observation(
                metric, detail, seconds, usual, self._pace_limit(level.kept), evidence=(_first(metric), before)
            )
            return self._raise(AlarmKind.SLOWER, level.since, seen, position, state)
        if change is Crossing.BACK:
            seen = _observation(metric, f"Step time is {seconds:.4g} s", seconds, usual)
            return self._end_alarm(AlarmKind.SLOWER, seen, position, state)
        return None

    def _straggler(self, metric: JobMetric, state: AlarmState, position: Position) -> Alarm | None:
        ranks = metric.over_ranks
        if ranks is None or metric.confidence < SURE:
            return None
        own = ranks.lag * ranks.step_time_s
        detail = f"Rank {ranks.slowest} takes {own:.4g} s per step; the median of {ranks.ranks} ranks is {ranks.step_time_s:.4g} s"
        limit = self.straggler * ranks.step_time_s
        seen = Seen(
            metric.job,
            metric.attempt,
            metric.time,
            detail,
            own,
            ranks.step_time_s,
            limit,
            rank=ranks.slowest,
            evidence=(_first(metric),),
        )
        if ranks.lag <= self.straggler:
            state.lagging = 0
            return self._end_alarm(AlarmKind.STRAGGLER, seen, position, state)
        if ranks.slowest != state.slowest or not state.lagging:
            state.slowest, state.lagging, state.lagging_since = ranks.slowest, 0, metric.time
        state.lagging += 1
        # A rank is a straggler once five looks at all ranks in a row find it the slowest.
        if state.lagging < 5:
            return None
        return self._raise(AlarmKind.STRAGGLER, state.lagging_since, seen, position, state)

    def _pace_limit(self, kept: Sequence[float]) -> float:
        return max(self.slower * median(kept), median(kept) + deviations(kept, 5))

    def _raise(self, kind: AlarmKind, since: float, seen: Seen, position: Position, state: AlarmState) -> Alarm | None:
        alarm = state.begin(kind, since, seen, position)
        if alarm is not None:
            self.metrics.raised.inc()
        return alarm

    def _end_alarm(self, kind: AlarmKind, seen: Seen, position: Position, state: AlarmState) -> Alarm | None:
        alarm = state.end(kind, seen, position)
        if alarm is not None:
            self.metrics.over.inc()
        return alarm


def _loss_limit(kept: Sequence[float]) -> float:
    middle = median(kept)
    return middle + max(deviations(kept, 10), 0.5 * abs(middle))


def _observation(
    metric: JobMetric,
    detail: str,
    *numbers: float,
    evidence: tuple[Evidence | None, ...] = (),
) -> Seen:
    """Return what is seen in `metric`; `numbers`: its value, the usual one, and the limit, as far as there are any."""
    value, usual, limit = (*numbers, None, None, None)[:3]
    evidence = evidence or (_first(metric),)
    return Seen(
        metric.job, metric.attempt, metric.time, detail, value, usual, limit, metric.node, metric.rank, evidence
    )


def _first(metric: JobMetric) -> Evidence | None:
    return metric.evidence[0] if metric.evidence else None


def _not_finite_since(began: Evidence | None, metric: JobMetric) -> str:
    """Return what the loss is since when: the step that the line `began` names, else the step of the metric's loss, else the line."""
    text = began.text.lower() if began else ""
    word = "infinite" if "inf" in text and "nan" not in text else "NaN"
    named = (
        [value for field, value in Extractor().read(began.text).values if field.meaning is Meaning.STEP]
        if began
        else []
    )
    if named or metric.loss_step is not None:
        return f"Loss {word} since step {named[0] if named else metric.loss_step:.0f}"
    return f"Loss {word} since line {began.line}" if began else f"Loss {word}"


def _step_text(metric: JobMetric) -> str:
    return "" if metric.step is None else f" at step {metric.step}"
