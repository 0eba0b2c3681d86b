"""Alarms that follow from a job's log and its GPUs: a hang, and GPUs that are held and idle."""

from collections.abc import Sequence
from typing import Self

import msgspec
from prometheus_client import Counter

from schedmate_records import (
    Alarm,
    AlarmKind,
    Checkpoint,
    EventKind,
    GpuActivity,
    GpuState,
    JobEvent,
    JobMetric,
    Position,
)

from ..alarms.standing import Seen, StandingAlarms
from ..classified_chunk import ClassifiedChunk
from ..stage import Stage, StageSettings
from .hang import HangState, find_hang
from .held import HeldGpus


class ActivityState(StandingAlarms):
    """State of an attempt.

    Attributes:
        over: It has ended.
        agreed: The GPUs agreed that it hangs, when the alarm was written last.
        again_s: Seconds of a hang at which the alarm is written again.
        idle_again_s: The same of idle GPUs.
        hang: What its log shows.
        gpus: What its GPUs do.
    """

    over: bool = False
    agreed: bool = False
    again_s: float = 0.0
    idle_again_s: float = 0.0
    hang: HangState = msgspec.field(default_factory=HangState)
    gpus: HeldGpus = msgspec.field(default_factory=HeldGpus)


class ActivityMetrics:
    """Counts of alarms."""

    def __init__(self) -> None:
        about = "Alarms raised: hangs, told by whether the log alone shows them or GPUs that wait or are idle agree, and GPUs held idle."
        self.raised = Counter("schedmate_activity_raised", about, ["kind", "gpus"], registry=None)
        self.over = Counter("schedmate_activity_over", "Hangs and idle GPUs that ended.", ["kind"], registry=None)
        for gpus in ("unknown", GpuState.WAITING, GpuState.IDLE):
            self.raised.labels(AlarmKind.HANG, gpus)
        self.raised.labels(AlarmKind.GPUS_IDLE, GpuState.IDLE)
        for kind in (AlarmKind.HANG, AlarmKind.GPUS_IDLE):
            self.over.labels(kind)


class ActivityMonitor(Stage[ActivityState]):
    """Raises an alarm when a job hangs or holds GPUs that do nothing, and ends it.

    An alarm is written again whenever it has lasted twice as long, so that what acts on long ones needs no clock; that of a hang also when
    the GPUs show its kind.

    Args:
        hang_s: Seconds without a report that are never a hang, where only the log shows it.
        confirmed_s: And where the job's GPUs wait or are idle for as long.
        idle_s: Seconds that GPUs may be held and idle.
    """

    name = "activity"
    state = ActivityState
    order = 60
    inputs = ("gpu-activity",)

    def __init__(self, hang_s: float = 300.0, confirmed_s: float = 90.0, idle_s: float = 1800.0) -> None:
        if min(hang_s, confirmed_s, idle_s) <= 0:
            raise ValueError(f"expected times above 0, got {hang_s}, {confirmed_s} and {idle_s}")
        self.hang_s, self.confirmed_s, self.idle_s = hang_s, min(confirmed_s, hang_s), idle_s
        self.metrics = ActivityMetrics()

    @classmethod
    def from_settings(cls, settings: StageSettings) -> Self:
        """Return the monitor with the limits of the section `processors`."""
        limits = settings.processors
        return cls(limits.hang_seconds, limits.hang_confirmed_seconds, limits.gpus_idle_seconds)

    def metric_groups(self) -> Sequence[object]:
        """Return its metrics."""
        return (self.metrics,)

    def on_metric(self, metric: JobMetric, position: Position, state: ActivityState) -> list[Alarm]:
        """Return the end of a hang where reports come again."""
        if state.over or not state.hang.on_metric(metric):
            return []
        at = "" if metric.step is None else f" at step {metric.step}"
        seen = Seen(
            metric.job,
            metric.attempt,
            metric.time,
            f"reports come again{at}",
            node=metric.node,
            rank=metric.rank,
            evidence=tuple(metric.evidence[:1]),
        )
        return self._end(AlarmKind.HANG, seen, position, state)

    def on_chunk(self, chunk: ClassifiedChunk, position: Position, state: ActivityState) -> list[Alarm]:
        """Return a hang if lines or heartbeats come, but no report has come for too long."""
        if state.over:
            return []
        state.gpus.runs_on(chunk.node)
        state.hang.on_chunk(chunk)
        return self._hang(chunk.job, chunk.attempt, chunk.newest, position, state)

    def on_checkpoint(self, checkpoint: Checkpoint, position: Position, state: ActivityState) -> list[Alarm]:
        """Note that a save begins, or is over."""
        state.hang.phase.on_checkpoint(checkpoint)
        return []

    def on_activity(self, activity: GpuActivity, position: Position, state: ActivityState) -> list[Alarm]:
        """Return the hang, the idle GPUs, or the end of either, that the GPUs of a node show."""
        if state.over or not state.gpus.add_report(activity, self.idle_s):
            return []
        job, attempt, time = activity.job, activity.attempt, activity.time
        return [*self._hang(job, attempt, time, position, state), *self._idle(activity, position, state)]

    def on_event(self, event: JobEvent, position: Position, state: ActivityState) -> list[Alarm]:
        """Return the end of all active alarms when the attempt ends; note its nodes and GPUs, and lines that were lost."""
        for node in event.nodes:
            state.gpus.runs_on(node)
        if event.gpus is not None and event.nodes:
            state.gpus.each = event.gpus / len(event.nodes)
        if event.kind is EventKind.LINES_LOST:
            state.hang.on_life(event.time)
        if event.kind is not EventKind.ENDED:
            return []
        return self._end_all(event.job, event.attempt, event.time, "the attempt has ended", position, state)

    def on_superseded(
        self, job: str, attempt: int, time: float, position: Position, state: ActivityState
    ) -> list[Alarm]:
        """Return the end of all active alarms when a newer attempt begins."""
        return self._end_all(job, attempt, time, "a newer attempt has begun", position, state)

    def on_reopened(self, job: str, attempt: int, time: float, position: Position, state: ActivityState) -> list[Alarm]:
        """Raise alarms again."""
        state.over = False
        return []

    def _hang(self, job: str, attempt: int, time: float, position: Position, state: ActivityState) -> list[Alarm]:
        stands = AlarmKind.HANG in state.raised
        if stands and state.gpus.works_at(time):
            state.hang.on_life(time)
            return self._end(AlarmKind.HANG, Seen(job, attempt, time, "its GPUs work again"), position, state)
        found = find_hang(state.hang, state.gpus, self.hang_s, self.confirmed_s)
        if found is None:
            return []
        news = found.activity is not None and not state.agreed
        if stands and not news and found.seconds < state.again_s:
            return []
        seen = Seen(
            job,
            attempt,
            time,
            found.detail,
            found.seconds,
            found.usual,
            found.limit,
            found.culprit.node,
            found.culprit.rank,
            (state.hang.silence.evidence,),
            activity=found.activity,
        )
        state.agreed, state.again_s = found.activity is not None, 2 * found.seconds
        if stands:
            return _as_list(state.amend(AlarmKind.HANG, seen, position))
        alarm = state.begin(AlarmKind.HANG, found.since, seen, position)
        if alarm:
            self.metrics.raised.labels(AlarmKind.HANG, found.activity or "unknown").inc()
        return _as_list(alarm)

    def _idle(self, activity: GpuActivity, position: Position, state: ActivityState) -> list[Alarm]:
        gpus, kind = state.gpus, AlarmKind.GPUS_IDLE
        idle = {name: found for name, node in gpus.nodes.items() if (found := gpus.long_idle(node, self.idle_s))}
        hours = gpus.lost_hours(self.idle_s)
        job, attempt, time = activity.job, activity.attempt, activity.time
        if not idle:
            known = all(node.state is not GpuState.UNKNOWN or not node.held for node in gpus.nodes.values())
            if kind not in state.raised or not known:
                return []
            seen = Seen(job, attempt, time, f"no GPU is idle any more, after {hours:.2f} GPU hours", gpu_hours=hours)
            return self._end(kind, seen, position, state)
        longest = max(gpus.nodes[name].time - each.since for name, found in idle.items() for each in found)
        if kind in state.raised and longest < state.idle_again_s:
            return []
        count, where = sum(map(len, idle.values())), next(iter(idle)) if len(idle) == 1 else f"{len(idle)} nodes"
        node = where if len(idle) == 1 else ""
        detail = (
            f"{count} GPU{'s' * (count > 1)} on {where} held and idle for {longest / 60:.0f} min: {hours:.2f} GPU hours"
        )
        whole = GpuState.IDLE if gpus.evidence().state is GpuState.IDLE else None
        seen = Seen(job, attempt, time, detail, longest, None, self.idle_s, node, activity=whole, gpu_hours=hours)
        state.idle_again_s = 2 * longest
        if kind in state.raised:
            return _as_list(state.amend(kind, seen, position))
        alarm = state.begin(kind, time - longest, seen, position)
        if alarm:
            self.metrics.raised.labels(kind, GpuState.IDLE).inc()
        return _as_list(alarm)

    def _end_all(  # noqa: PLR0917  # an attempt, when and why it is over
        self, job: str, attempt: int, time: float, why: str, position: Position, state: ActivityState
    ) -> list[Alarm]:
        state.over = True
        ended = []
        for kind in map(AlarmKind, list(state.raised)):
            hours = state.gpus.lost_hours(self.idle_s) if kind is AlarmKind.GPUS_IDLE else None
            ended += self._end(kind, Seen(job, attempt, time, why, gpu_hours=hours), position, state)
        return ended

    def _end(self, kind: AlarmKind, seen: Seen, position: Position, state: ActivityState) -> list[Alarm]:
        if kind is AlarmKind.HANG:
            state.agreed = False
        alarm = state.end(kind, seen, position)
        if alarm:
            self.metrics.over.labels(kind).inc()
        return _as_list(alarm)


def _as_list(alarm: Alarm | None) -> list[Alarm]:
    return [alarm] if alarm else []
