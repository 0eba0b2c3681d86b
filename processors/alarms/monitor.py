"""The alarms of one job: a loss that is no number, a loss spike, a hang, steps that became slower, a straggler."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import msgspec
from prometheus_client import Counter

from processors.classified_chunk import PROGRESS, ClassifiedChunk
from processors.stage import Stage
from records import Alarm, AlarmKind, EventKind, Evidence, JobEvent, JobMetric, Position, derived_id

from .level import Crossing, Level, deviations
from .silence import Silence

SPACED_S = 10.0
"""Step times are medians of many reports: those nearer to each other than this say the same."""
SURE = 0.5
"""Step times below this confidence raise no alarm."""
UNMEASURED = 5
"""First reports of a job of which a loss that is no number is no alarm: an average over nothing yet is printed as NaN."""
LAGGING = 5
"""Looks at all ranks in a row that make the same one a straggler."""
ALARMS = 50
"""Alarms raised in one attempt; a job that alarms all the time tells nothing more by another one."""


class AlarmState(msgspec.Struct):
    """What is remembered of one attempt.

    Attributes:
        over: It has ended.
        raised: Alarms that stand, by kind, with when they began.
        told: Alarms raised so far.
        loss: Losses of the rank `loss_rank`, the first that reported one.
        newest_loss: The newest of them: a metric without a new loss repeats it.
        pace: Step times of the rank `pace_rank`, the first that reported one, 10 s apart.
        pace_time: Arrival of the newest of them.
        slowest: The rank that is slowest.
        lagging: Looks at all ranks in a row that found it a straggler.
        lagging_since: Arrival of the first of them.
        silence: How reports came.
    """

    over: bool = False
    raised: dict[str, float] = {}
    told: int = 0
    loss: Level = msgspec.field(default_factory=Level)
    loss_rank: int | None = None
    newest_loss: float | None = None
    pace: Level = msgspec.field(default_factory=Level)
    pace_rank: int | None = None
    pace_time: float = 0.0
    slowest: int | None = None
    lagging: int = 0
    lagging_since: float = 0.0
    silence: Silence = msgspec.field(default_factory=Silence)


class AlarmMetrics:
    """What the monitor has said."""

    def __init__(self) -> None:
        self.raised = Counter("schedmate_alarm_monitor_raised", "Alarms raised.", registry=None)
        self.over = Counter("schedmate_alarm_monitor_over", "Alarms that were over.", registry=None)


@dataclass(frozen=True)
class _Seen:
    """What an alarm says beside its kind."""

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


class AlarmMonitor(Stage[AlarmState]):
    """Takes a job's metrics, and notice of all that it prints; says when something begins to be wrong and when it is over.

    Every limit is relative to the job's own past. Each alarm is said once, until it is over.

    Args:
        hang_s: Seconds without a report that are never an alarm, however fast reports came before.
        slower: A step time over its usual one above which steps are slower.
        straggler: The slowest rank's step time over the median above which it is a straggler.
    """

    name = "alarms"

    def __init__(self, hang_s: float = 300.0, slower: float = 1.5, straggler: float = 1.25) -> None:
        if hang_s <= 0 or slower <= 1 or straggler <= 1:
            raise ValueError(f"expected a time above 0 and ratios above 1, got {hang_s}, {slower} and {straggler}")
        self.hang_s = hang_s
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
        said = [
            self._not_finite(metric, state, position),
            self._spike(metric, state, position),
            self._slower(metric, state, position),
            self._straggler(metric, state, position),
            self._moving(metric, state, position),
        ]
        return [alarm for alarm in said if alarm is not None]

    def on_chunk(self, chunk: ClassifiedChunk, position: Position, state: AlarmState) -> list[Alarm]:
        """Return a hang where the job is heard of, but its reports have stayed away for too long.

        Progress of any kind, such as that of an evaluation, shows that it works.
        """
        silence, time = state.silence, chunk.newest
        if state.over or not silence.time:
            return []
        if PROGRESS in chunk.classes:
            silence.time = max(silence.time, time)
            return []
        limit = silence.limit(self.hang_s)
        quiet = time - silence.time
        if limit is None or quiet <= limit or AlarmKind.HANG in state.raised:
            return []
        usual = median(silence.gaps)
        at = "" if silence.step is None else f" after step {silence.step}"
        detail = f"no report for {quiet:.0f} s{at}, where one came every {usual:.3g} s"
        seen = _Seen(chunk.job, chunk.attempt, time, detail, quiet, usual, limit, evidence=(silence.evidence,))
        alarm = self._raise(AlarmKind.HANG, silence.time, seen, position, state)
        return [alarm] if alarm else []

    def on_event(self, event: JobEvent, position: Position, state: AlarmState) -> list[Alarm]:
        """Return the end of all alarms that stand when the attempt ends."""
        if event.kind is not EventKind.ENDED:
            return []
        return self._end(_Seen(event.job, event.attempt, event.time, "the attempt has ended"), position, state)

    def on_superseded(self, job: str, attempt: int, time: float, position: Position, state: AlarmState) -> list[Alarm]:
        """Return the end of all alarms that stand when a newer attempt begins."""
        return self._end(_Seen(job, attempt, time, "a newer attempt has begun"), position, state)

    def _end(self, seen: _Seen, position: Position, state: AlarmState) -> list[Alarm]:
        state.over = True
        said = [self._over(AlarmKind(kind), seen, position, state) for kind in list(state.raised)]
        return [alarm for alarm in said if alarm is not None]

    def _not_finite(self, metric: JobMetric, state: AlarmState, position: Position) -> Alarm | None:
        kind = AlarmKind.LOSS_NOT_FINITE
        if metric.loss_not_finite:
            if state.newest_loss is None and metric.reports <= UNMEASURED:
                return None
            seen = _of(
                metric,
                f"the loss is no finite number{_at(metric)}",
                evidence=(*metric.evidence[:1], state.loss.evidence),
            )
            return self._raise(kind, metric.time, seen, position, state)
        if metric.loss is None:
            return None
        return self._over(kind, _of(metric, f"the loss is a number again{_at(metric)}"), position, state)

    def _spike(self, metric: JobMetric, state: AlarmState, position: Position) -> Alarm | None:
        if metric.loss is None or state.loss_rank not in (None, metric.rank) or metric.loss == state.newest_loss:
            return None
        state.loss_rank, state.newest_loss = metric.rank, metric.loss
        level, usual, before = state.loss, state.loss.usual, state.loss.evidence
        change = level.take(metric.loss, metric.time, _first(metric), _loss_limit, least=20, row=3)
        if change is Crossing.ABOVE:
            limit = _loss_limit(level.kept)
            detail = f"the loss is {metric.loss:.4g}{_at(metric)}, where it was about {usual:.4g}"
            seen = _of(metric, detail, metric.loss, usual, limit, evidence=(_first(metric), before))
            return self._raise(AlarmKind.LOSS_SPIKE, level.since, seen, position, state)
        if change is Crossing.BACK:
            seen = _of(metric, f"the loss is {metric.loss:.4g}{_at(metric)}", metric.loss, usual)
            return self._over(AlarmKind.LOSS_SPIKE, seen, position, state)
        return None

    def _slower(self, metric: JobMetric, state: AlarmState, position: Position) -> Alarm | None:
        seconds = metric.step_time_s
        if seconds is None or metric.confidence < SURE or state.pace_rank not in (None, metric.rank):
            return None
        if metric.time < state.pace_time + SPACED_S:
            return None
        state.pace_rank, state.pace_time = metric.rank, metric.time
        level, usual, before = state.pace, state.pace.usual, state.pace.evidence
        change = level.take(seconds, metric.time, _first(metric), self._pace_limit, least=5, row=3)
        if change is Crossing.ABOVE:
            detail = f"a step takes {seconds:.4g} s, where it took {usual:.4g} s"
            seen = _of(metric, detail, seconds, usual, self._pace_limit(level.kept), evidence=(_first(metric), before))
            return self._raise(AlarmKind.SLOWER, level.since, seen, position, state)
        if change is Crossing.BACK:
            seen = _of(metric, f"a step takes {seconds:.4g} s", seconds, usual)
            return self._over(AlarmKind.SLOWER, seen, position, state)
        return None

    def _straggler(self, metric: JobMetric, state: AlarmState, position: Position) -> Alarm | None:
        ranks = metric.over_ranks
        if ranks is None or metric.confidence < SURE:
            return None
        own = ranks.lag * ranks.step_time_s
        detail = f"rank {ranks.slowest} takes {own:.4g} s a step, the median of {ranks.ranks} ranks is {ranks.step_time_s:.4g} s"
        limit = self.straggler * ranks.step_time_s
        seen = _Seen(
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
            return self._over(AlarmKind.STRAGGLER, seen, position, state)
        if ranks.slowest != state.slowest or not state.lagging:
            state.slowest, state.lagging, state.lagging_since = ranks.slowest, 0, metric.time
        state.lagging += 1
        if state.lagging < LAGGING:
            return None
        return self._raise(AlarmKind.STRAGGLER, state.lagging_since, seen, position, state)

    def _moving(self, metric: JobMetric, state: AlarmState, position: Position) -> Alarm | None:
        if not state.silence.reported(metric.step, metric.time, _first(metric)):
            return None
        seen = _of(metric, f"reports come again{_at(metric)}")
        return self._over(AlarmKind.HANG, seen, position, state)

    def _pace_limit(self, kept: Sequence[float]) -> float:
        return max(self.slower * median(kept), median(kept) + deviations(kept, 5))

    def _raise(self, kind: AlarmKind, since: float, seen: _Seen, position: Position, state: AlarmState) -> Alarm | None:
        if kind in state.raised or state.told >= ALARMS:
            return None
        state.raised[kind] = since
        state.told += 1
        self.metrics.raised.inc()
        return _alarm(kind, since, seen, position, state, raised=True)

    def _over(self, kind: AlarmKind, seen: _Seen, position: Position, state: AlarmState) -> Alarm | None:
        since = state.raised.pop(kind, None)
        if since is None:
            return None
        self.metrics.over.inc()
        return _alarm(kind, since, seen, position, state, raised=False)


def _loss_limit(kept: Sequence[float]) -> float:
    middle = median(kept)
    return middle + max(deviations(kept, 10), 0.5 * abs(middle))


def _alarm(kind: AlarmKind, since: float, seen: _Seen, position: Position, state: AlarmState, *, raised: bool) -> Alarm:
    return Alarm(
        id=derived_id(f"alarm_{kind}", seen.job, position, state.told * 2 + raised),
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
        detail=seen.detail,
        evidence=[each for each in seen.evidence if each is not None],
    )


def _of(
    metric: JobMetric,
    detail: str,
    *numbers: float,
    evidence: tuple[Evidence | None, ...] = (),
) -> _Seen:
    """Return what is seen in `metric`; `numbers`: its value, the usual one, and the limit, as far as there are any."""
    value, usual, limit = (*numbers, None, None, None)[:3]
    evidence = evidence or (_first(metric),)
    return _Seen(
        metric.job, metric.attempt, metric.time, detail, value, usual, limit, metric.node, metric.rank, evidence
    )


def _first(metric: JobMetric) -> Evidence | None:
    return metric.evidence[0] if metric.evidence else None


def _at(metric: JobMetric) -> str:
    return "" if metric.step is None else f" at step {metric.step}"
