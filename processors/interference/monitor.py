"""The interference monitor: does a job run slower since another was packed beside it (SchedMate §4.1).

Throughput before the packing is compared with throughput after warm-up, at least a few tens of steps later. The measure is seconds per step
of one rank: the one that reports most, because ranks of a synchronous job keep one pace and a mixture of ranks would mix windows.
"""

from collections.abc import Sequence
from statistics import median_low

import msgspec
from prometheus_client import Counter

from processors.stage import Stage
from records import EventKind, Evidence, JobEvent, JobMetric, Position, Slowdown, derived_id

PACKINGS = 8
"""Packings of one job watched at once; further ones are untrackable."""
RANKS = 4
"""Ranks whose newest metrics are remembered; the first ones that report."""
NEWEST = 12
SPACED_S = 2.5
"""Metrics remembered of a rank: the newest, and older ones so many seconds apart. A packing event arrives after metrics that are later
than it, of which a chatty job makes several a second; and schedulers round its time down to a second."""
TYPICAL = 3
"""Metrics whose median is the step time before a packing: a single one may be a job's slow first steps, or a pause."""


class Measure(msgspec.Struct, frozen=True, gc=False):
    """A usable metric."""

    time: float
    step_time_s: float
    step: int | None
    evidence: Evidence | None


class StepTimes(msgspec.Struct):
    """The newest metrics of one rank, oldest first, and how many there were in all."""

    rank: int
    reports: int = 0
    newest: list[Measure] = []

    def before(self, time: float) -> list[Measure]:
        """Return the last metrics at or before `time`, oldest first."""
        return [one for one in self.newest if one.time <= time][-TYPICAL:]


class Packing(msgspec.Struct):
    """A packing that is watched. `step` is the step at which it came, from the pace until then; `measured`: at least once since."""

    id: str
    packed_job: str
    node: str
    time: float
    rank: int
    before_s: float
    step: int | None
    before: Evidence | None
    measured: bool = False


class InterferenceState(msgspec.Struct):
    """What is remembered of one attempt of a job; nothing where nothing was packed beside it but the newest metrics."""

    paces: list[StepTimes] = []
    packings: list[Packing] = []


class InterferenceMetrics:
    """What the monitor has seen."""

    def __init__(self) -> None:
        self.packed = Counter(
            "schedmate_interference_monitor_packed", "Packings in which the watched job was there first.", registry=None
        )
        self.untrackable = Counter(
            "schedmate_interference_monitor_untrackable",
            "Those skipped because no step time was known before.",
            registry=None,
        )
        self.ended = Counter(
            "schedmate_interference_monitor_ended", "Those that ended before a measurement.", registry=None
        )
        self.measured = Counter("schedmate_interference_monitor_measured", "Those measured.", registry=None)
        self.slowed = Counter(
            "schedmate_interference_monitor_slowed", "Those found slower than the threshold allows.", registry=None
        )


class InterferenceMonitor(Stage[InterferenceState]):
    """Compares step times before and after a packing. Only the job that was there first is watched.

    A newcomer loads and compiles before it takes its share, so every measurement after the warm-up counts, not only the first, until
    one is too slow, the packing ends, or it has been watched for long.

    Args:
        threshold: Throughput after over throughput before, below which a packing is a slowdown.
        warmup_steps: Steps after the packing that no measurement may touch.
        warmup_s: Seconds after the packing that no measurement may touch where steps are not known.
        watched_s: Seconds after the packing beyond which a slowdown is no longer laid to it.
    """

    name = "interference"

    def __init__(
        self, threshold: float = 0.65, warmup_steps: int = 30, warmup_s: float = 60.0, watched_s: float = 1800.0
    ) -> None:
        if not 0 < threshold <= 1:
            raise ValueError(f"expected a threshold above 0 and at most 1, got {threshold}")
        if warmup_steps < 0 or warmup_s < 0:
            raise ValueError(f"expected a warm-up of 0 or more, got {warmup_steps} steps and {warmup_s} s")
        self.threshold = threshold
        self.warmup_steps = warmup_steps
        self.warmup_s = warmup_s
        self.watched_s = watched_s
        self.metrics = InterferenceMetrics()

    def metric_groups(self) -> Sequence[object]:
        """Return its metrics."""
        return (self.metrics,)

    def on_event(self, event: JobEvent, position: Position, state: InterferenceState) -> list[Slowdown]:
        """Take the beginning or the end of a packing; its effect shows in the metrics between them."""
        if event.kind is EventKind.PACKED and not event.newcomer:
            self._packed(event, position, state)
        elif event.kind is EventKind.UNPACKED:
            self._unpacked(event, state)
        return []

    def _packed(self, event: JobEvent, position: Position, state: InterferenceState) -> None:
        """Await the effect of a packing. Without a step time before it, it cannot be tracked and is skipped."""
        identity = derived_id("slowdown", event.job, position)
        if any(one.id == identity for one in state.packings):
            return
        self.metrics.packed.inc()
        best = max(state.paces, key=lambda one: (one.reports, -one.rank), default=None)
        before = best.before(event.time) if best else []
        if best is None or not before or len(state.packings) >= PACKINGS:
            self.metrics.untrackable.inc()
            return
        last = before[-1]
        typical_s = median_low(one.step_time_s for one in before)
        made = int((event.time - last.time) / typical_s)
        state.packings.append(
            Packing(
                id=identity,
                packed_job=event.packed_with,
                node=event.nodes[0] if event.nodes else "",
                time=event.time,
                rank=best.rank,
                before_s=typical_s,
                step=None if last.step is None else last.step + made,
                before=last.evidence,
            )
        )

    def _unpacked(self, event: JobEvent, state: InterferenceState) -> None:
        """Forget a packing that ended: what was not measured by now never will be."""
        staying = [one for one in state.packings if one.packed_job != event.packed_with]
        self.metrics.ended.inc(len(state.packings) - len(staying))
        state.packings = staying

    def on_metric(self, metric: JobMetric, position: Position, state: InterferenceState) -> list[Slowdown]:
        """Return a slowdown where a metric completes the measurement of a packing and its throughput is too low."""
        if not metric.step_time_s or metric.step_time_s <= 0:
            return []
        slowdowns: list[Slowdown] = []
        for one in list(state.packings):
            if one.rank != metric.rank or not self._after_warmup(one, metric):
                continue
            self.metrics.measured.inc(not one.measured)
            one.measured = True
            ratio = one.before_s / metric.step_time_s
            if ratio < self.threshold and not slowdowns:
                state.packings.remove(one)
                self.metrics.slowed.inc()
                slowdowns.append(self._slowdown(one, metric, ratio))
            elif metric.time > one.time + self.watched_s:
                state.packings.remove(one)
        self._remember(metric, state)
        return slowdowns

    def _after_warmup(self, one: Packing, metric: JobMetric) -> bool:
        """Return whether the metric's window lies wholly after the packing and the warm-up."""
        if metric.since is None or metric.since < one.time:
            return False
        if metric.since_step is not None and one.step is not None:
            return metric.since_step >= one.step + self.warmup_steps
        return metric.since >= one.time + self.warmup_s

    def _slowdown(self, one: Packing, metric: JobMetric, ratio: float) -> Slowdown:
        assert metric.step_time_s is not None
        steps = metric.step - one.step if metric.step is not None and one.step is not None else 0
        return Slowdown(
            id=one.id,
            job=metric.job,
            attempt=metric.attempt,
            packed_job=one.packed_job,
            node=one.node or metric.node,
            time=metric.time,
            before_s=one.before_s,
            after_s=metric.step_time_s,
            ratio=ratio,
            threshold=self.threshold,
            steps_after=max(steps, 0),
            evidence=[place for place in (one.before, *metric.evidence[:1]) if place is not None],
        )

    @staticmethod
    def _remember(metric: JobMetric, state: InterferenceState) -> None:
        assert metric.step_time_s is not None
        measure = Measure(metric.time, metric.step_time_s, metric.step, metric.evidence[0] if metric.evidence else None)
        pace = next((one for one in state.paces if one.rank == metric.rank), None)
        if pace is None:
            if len(state.paces) >= RANKS:
                return
            pace = StepTimes(metric.rank)
            state.paces.append(pace)
        pace.reports += 1
        *older, newest = sorted([*pace.newest, measure], key=lambda one: one.time)
        if len(older) > 1 and older[-1].time - older[-2].time < SPACED_S:
            older.pop()
        pace.newest = [*older, newest][-NEWEST:]
