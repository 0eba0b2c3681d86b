"""The interference monitor: whether a job runs slower since another was packed on its GPUs (SchedMate §4.1).

Throughput before the packing is compared with throughput after warm-up, at least a few tens of steps later. The measure is seconds per step
of one rank: the one that reports most, because ranks of a synchronous job keep one pace and a mixture of ranks would mix windows.

What is compared are spans that do not overlap (`spans.py`); whether they show a change is a rank test.
"""

from collections.abc import Sequence
from operator import itemgetter
from statistics import median_low
from typing import Self

import msgspec
from prometheus_client import Counter

from schedmate_records import EventKind, Evidence, JobEvent, JobMetric, Position, Slowdown, derived_id

from ..stage import Stage, StageSettings
from .spans import Measure, between, confidence

NEWEST = 12
"""Metrics kept of a rank. With `SPACED_S` between them, the older ones cover 25 s: a packing event arrives after later metrics."""
SPACED_S = 2.5
"""Minimum time between two of the older metrics, in seconds. A job may print several metrics a second, and schedulers round the time of a
packing down to a second."""
LEAST, MOST = 5, 12
"""Newest spans after a packing that are compared with those before it: pauses come in twos (an evaluation, then a checkpoint)."""


class StepTimes(msgspec.Struct):
    """The newest metrics of one rank, oldest first, and how many there were in all."""

    rank: int
    reports: int = 0
    newest: list[Measure] = []

    def before(self, time: float) -> list[Measure]:
        """Return the metrics at or before `time`, oldest first."""
        return [one for one in self.newest if one.time <= time]


class Packing(msgspec.Struct):
    """A packing that is watched, or one that slowed the job and has ended.

    Attributes:
        id: Id of the `Slowdown` record that this packing may produce.
        packed_job: Id of the job that was packed later.
        node: Where both run.
        time: Start, seconds since 1970; the end once the packing has ended.
        rank: The rank that is followed.
        before_s: Median seconds per step before it.
        step: Training step at its start, from the pace before it.
        before: A report before it.
        before_spans: Seconds per step of each span before it.
        last: Where the newest span ends.
        after_spans: Seconds per step of the newest spans after the warm-up.
        slowdown: The reported slowdown; null if there is none.
        ended: Whether it has ended.
    """

    id: str
    packed_job: str
    node: str
    time: float
    rank: int
    before_s: float
    step: int | None
    before: Evidence | None
    before_spans: list[float] = []
    last: Measure | None = None
    after_spans: list[float] = []
    slowdown: Slowdown | None = None
    ended: bool = False


class InterferenceState(msgspec.Struct):
    """State of one attempt of a job: the newest metrics, and packings."""

    paces: list[StepTimes] = []
    packings: list[Packing] = []


class InterferenceMetrics:
    """Metrics of the interference monitor."""

    def __init__(self) -> None:
        self.packed = Counter(
            "schedmate_interference_monitor_packed",
            "Packings in which the observed job was first on the GPU.",
            registry=None,
        )
        self.untrackable = Counter(
            "schedmate_interference_monitor_untrackable",
            "Packings skipped because too few steps were known before them.",
            registry=None,
        )
        self.ended = Counter(
            "schedmate_interference_monitor_ended", "Packings that ended before a measurement.", registry=None
        )
        self.measured = Counter("schedmate_interference_monitor_measured", "Packings measured.", registry=None)
        self.slowed = Counter(
            "schedmate_interference_monitor_slowed", "Packings with a slowdown below the threshold.", registry=None
        )
        self.recovered = Counter(
            "schedmate_interference_monitor_recovered",
            "Packings after whose end the step time was measured again.",
            registry=None,
        )


class InterferenceMonitor(Stage[InterferenceState]):
    """Compares step times before and after a packing. Only the job that was there first is watched.

    The second job loads and compiles before it takes its share. So the newest spans after the warm-up count until they are too slow, the
    packing ends, or `watched_s` have passed. After the end of a packing that was too slow, the pace is measured again.

    Args:
        threshold: Throughput after over throughput before, below which a packing is a slowdown.
        warmup_steps: Steps after the packing that no measurement may touch.
        warmup_s: Seconds after the packing that no measurement may touch where steps are not known.
        watched_s: Seconds after the packing beyond which a slowdown is no longer laid to it; the same after its end for the recovery.
    """

    name = "interference"
    state = InterferenceState
    order = 30

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

    @classmethod
    def from_settings(cls, settings: StageSettings) -> Self:
        """Return the monitor with the limits of the section `processors`."""
        return cls(threshold=settings.processors.slowdown_threshold, warmup_steps=settings.processors.warmup_steps)

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
        by_steps = bool(before) and before[-1].step is not None
        spans = between(before, by_steps=by_steps, steady=True)
        # With fewer than two spans before a packing nothing is certain.
        if best is None or len(spans) < 2 or len(state.packings) >= 8:
            self.metrics.untrackable.inc()
            return
        last = before[-1]
        # A single metric may be one of a job's slow first steps, or of a pause.
        typical_s = median_low(one.step_time_s for one in before[-3:])
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
                before_spans=spans,
            )
        )

    def _unpacked(self, event: JobEvent, state: InterferenceState) -> None:
        """Forget a packing that ended: what was not measured by now never will be.

        Where it slowed the job, the recovery is awaited.
        """
        for one in [one for one in state.packings if one.packed_job == event.packed_with and not one.ended]:
            if one.slowdown is None:
                state.packings.remove(one)
                self.metrics.ended.inc()
            else:
                one.ended, one.time, one.after_spans = True, event.time, []

    def on_metric(self, metric: JobMetric, position: Position, state: InterferenceState) -> list[Slowdown]:
        """Return a slowdown where a metric completes the measurement of a packing and its throughput is too low, or of its recovery."""
        if not metric.step_time_s or metric.step_time_s <= 0:
            return []
        slowdowns: list[Slowdown] = []
        for one in [one for one in state.packings if one.rank == metric.rank]:
            if one.ended:
                found = self._recovery(one, metric)
            else:
                found = self._slowdown(one, metric) if one.slowdown is None and self._add_metric(one, metric) else []
            slowdowns += found
            if (one.ended and found) or (
                metric.time > one.time + self.watched_s and (one.ended or one.slowdown is None)
            ):
                state.packings.remove(one)
        self._remember(metric, state)
        return slowdowns

    def _add_metric(self, one: Packing, metric: JobMetric) -> bool:
        """Take a metric as the end of a span, or as the begin of the first. True where there is one span more."""
        measure = Measure.from_metric(metric)
        by_steps = one.step is not None
        if one.last is None:
            one.last = measure if self._is_past_warmup(one, measure, by_steps=by_steps) else None
            return False
        made = between([one.last, measure], by_steps=by_steps)
        if made or (by_steps and not measure.follows(one.last)):
            one.last = measure
        if not made:
            return False
        self.metrics.measured.inc(not one.after_spans)
        one.after_spans = [*one.after_spans, *made][-MOST:]
        return True

    def _is_past_warmup(self, one: Packing, measure: Measure, *, by_steps: bool) -> bool:
        if by_steps and measure.step is not None and one.step is not None:
            return measure.time >= one.time and measure.step >= one.step + self.warmup_steps
        return measure.time >= one.time + self.warmup_s

    def _slowdown(self, one: Packing, metric: JobMetric) -> list[Slowdown]:
        """Return the slowdown that the newest spans show, if they do: as many of them as make it most certain.

        The newest reports alone must show it, too: their median ignores pauses, which spans include. While half of them came before the
        second job had loaded, their median lies between the two paces: the slowdown is taken from the spans.
        """
        assert metric.step_time_s is not None
        looks = [one.after_spans[-count:] for count in range(LEAST, len(one.after_spans) + 1)]
        judged = [(confidence(one.before_spans, spans, self.threshold), spans) for spans in looks]
        sure, spans = max(judged, key=itemgetter(0), default=(0.0, []))
        if sure < 0.95 or one.before_s >= self.threshold * metric.step_time_s:
            return []
        # The reported slowdown is the 25th percentile of the spans, because pauses make some of the spans slower.
        after_s = max(metric.step_time_s, sorted(spans)[len(spans) // 4])
        ratio = one.before_s / after_s
        self.metrics.slowed.inc()
        steps = metric.step - one.step if metric.step is not None and one.step is not None else 0
        one.slowdown = Slowdown(
            id=one.id,
            job=metric.job,
            attempt=metric.attempt,
            packed_job=one.packed_job,
            node=one.node or metric.node,
            time=metric.time,
            before_s=one.before_s,
            after_s=after_s,
            ratio=ratio,
            threshold=self.threshold,
            confidence=round(sure, 4),
            steps_after=max(steps, 0),
            evidence=[place for place in (one.before, *metric.evidence[:1]) if place is not None],
        )
        return [one.slowdown]

    def _recovery(self, one: Packing, metric: JobMetric) -> list[Slowdown]:
        """Return the slowdown once more, with the pace of the first reports that all came after the end of the packing.

        Under an id of its own: who keeps what it has seen by id would drop it as a repeat.
        """
        if one.slowdown is None or not metric.step_time_s or metric.since is None or metric.since < one.time:
            return []
        self.metrics.recovered.inc()
        recovered = one.before_s / metric.step_time_s
        return [msgspec.structs.replace(one.slowdown, id=f"{one.slowdown.id}/recovered", recovered=recovered)]

    @staticmethod
    def _remember(metric: JobMetric, state: InterferenceState) -> None:
        measure = Measure.from_metric(metric)
        pace = next((one for one in state.paces if one.rank == metric.rank), None)
        if pace is None:
            # The first four ranks that report suffice.
            if len(state.paces) >= 4:
                return
            pace = StepTimes(metric.rank)
            state.paces.append(pace)
        pace.reports += 1
        *older, newest = sorted([*pace.newest, measure], key=lambda one: one.time)
        if len(older) > 1 and older[-1].time - older[-2].time < SPACED_S:
            older.pop()
        pace.newest = [*older, newest][-NEWEST:]
