"""Adds what the events of a structured log count to what its reports state."""

import msgspec

from schedmate_records import JobMetric

from ..classified_chunk import ClassifiedChunk
from ..grammar.units import SAMPLES
from ..read.solver import EventReading, solve
from .metric import metric_before
from .state import TrackState
from .summary import summarise


def add_events(
    view: ClassifiedChunk, state: TrackState, event: int | None, reported: JobMetric | None
) -> JobMetric | None:
    """Return `reported` with step and speed of the events where the reports leave them open.

    Args:
        view: The chunk.
        state: State of its stream.
        event: Place of the newest event of the chunk; None without one.
        reported: Metric of the reports of the chunk; None without one. Then events alone make a metric, unless earlier reports stated
            a speed.
    """
    if not state.events.events or (reported is None and (event is None or _has_reported_speed(state))):
        return reported
    solution = solve(state.events, reported.throughput if reported is not None else None)
    best, last = solution.best if solution is not None else None, state.events.last_step
    if best is None and last is None:
        return reported
    metric = reported or metric_before(view, state, event or 0, best.points if best is not None else 0)
    if best is not None:
        metric = _with_speed(metric, best)
    step = metric.step
    if step is None or (best is not None and best.step is not None and step == best.value):
        step = best.step if best is not None and best.step is not None else last  # the reports' counter counts samples
    metric = msgspec.structs.replace(metric, step=step)
    is_empty = metric.step_time_s is None and metric.throughput is None and metric.step is None
    return reported if is_empty else metric


def _with_speed(metric: JobMetric, best: EventReading) -> JobMetric:
    """Return `metric` with the speed of the events, if none is stated. A stated rate tests it where the batch is known."""
    stated = metric.throughput
    if metric.step_time_s is not None or (stated and not best.samples_per_s):
        return metric
    if not best.step_time_s and not best.samples_per_s:
        return metric
    return msgspec.structs.replace(
        metric,
        step_time_s=best.step_time_s,
        throughput=stated or best.samples_per_s,
        throughput_unit=metric.throughput_unit if stated else SAMPLES if best.samples_per_s else None,
        method="timestamps" if best.step_time_s else metric.method,
        confidence=round(0.8 * min(1.0, best.points / 4), 3),
    )


def _has_reported_speed(state: TrackState) -> bool:
    """Return whether the reports so far state a speed. Events of a later chunk do not replace it."""
    known = summarise(state.window) if state.window else None
    return known is not None and (known.step_time_s is not None or known.throughput is not None)
