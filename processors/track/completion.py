"""Adds what events and number columns count to what the reports of a stream leave open."""

from collections.abc import Sequence
from math import inf

import msgspec

from schedmate_records import JobMetric

from ..classified_chunk import ClassifiedChunk
from ..grammar.names import PART_RANK
from ..grammar.units import SAMPLES
from ..read.column_search import ColumnSearch, CounterValue, LossValue, losses, steps
from ..read.kept import Chosen, KeptSeries
from ..read.solver import EventReading, solve
from .metric import metric_before
from .pace import pace_of_counter
from .reports import Report
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


_LONE = 3.0
"""Log odds from which one column alone shows that this is a training."""
_ROWS = 200
"""Rows after which columns that add nothing are skipped for some time."""


def add_columns(
    view: ClassifiedChunk, state: TrackState, columns: ColumnSearch, metric: JobMetric | None
) -> JobMetric | None:
    """Return `metric` with step, speed and loss of the likeliest columns where it leaves them open.

    Without a metric the columns alone make one, if they show a training.
    """
    kept = state.kept
    if metric is not None and _is_settled(metric, state.window):
        state.kept = kept if kept.settled else KeptSeries(settled=True)
        return metric
    if kept.settled and metric is not None:
        kept = state.kept = KeptSeries()
    if kept.settled or state.events.begun:  # a log that prints when runs begin has counters of its own
        return metric
    if kept.idle:
        kept.idle = max(0, kept.idle - len(view.lines))
        return _without_part(metric, state)
    if not columns.observe(zip(view.numbers, view.lines, view.times, strict=True), kept):
        return _without_part(metric, state)
    counted, lossy = steps(kept), losses(kept)
    completed = _complete(view, state, metric, counted, lossy)
    if completed == metric and kept.seen >= _ROWS:  # skip more lines each time, up to a million
        idle = 4000 << (2 * min(kept.rounds, 4))
        state.kept = KeptSeries(idle=idle, rounds=kept.rounds + 1, no_loss=kept.no_loss)
    return _without_part(completed, state)


def _without_part(metric: JobMetric | None, state: TrackState) -> JobMetric | None:
    """Return `metric` without the loss of a part, if several columns have the name of a loss and none is likely to be the loss."""
    if metric is None or not state.kept.no_loss:
        return metric
    rank = min((report.loss_rank for report in state.window if report.has_loss), default=0)
    return msgspec.structs.replace(metric, loss=None, loss_step=None) if rank == PART_RANK else metric


def _complete(
    view: ClassifiedChunk,
    state: TrackState,
    metric: JobMetric | None,
    counted: Sequence[CounterValue],
    lossy: Sequence[LossValue],
) -> JobMetric | None:
    if metric is None:
        newest = max([*(each.line for each in counted[-1:]), *(each.line for each in lossy[-1:])], default=0)
        if newest not in view.numbers or not _trains(state, counted, lossy):
            return None
        metric = metric_before(view, state, view.numbers.index(newest), len(counted))
    metric = _with_step(metric, counted, state)
    is_open = metric.loss is None or (_has_part(state.window) and state.kept.loss and state.kept.loss.score >= 1.5)
    if is_open and not metric.loss_not_finite and lossy and lossy[-1].loss:
        metric = msgspec.structs.replace(
            metric, loss=lossy[-1].loss, loss_step=None
        )  # a loss of 0 is of a part that is not trained
    return metric


def _is_settled(metric: JobMetric, window: Sequence[Report]) -> bool:
    """Return whether the reports leave nothing open."""
    return metric.step is not None and not _has_no_speed(metric) and metric.loss is not None and not _has_part(window)


def _has_part(window: Sequence[Report]) -> bool:
    """Return whether the reports name the loss of a part only."""
    return min((report.loss_rank for report in window if report.has_loss), default=0) >= PART_RANK


def _has_no_speed(metric: JobMetric) -> bool:
    return metric.step_time_s is None and metric.throughput is None


def _trains(state: TrackState, counted: Sequence[CounterValue], lossy: Sequence[LossValue]) -> bool:
    """Return whether columns alone show a training: a counter and a loss do, or one of them that is nearly certain."""
    if (counted and lossy) or state.window or state.loss is not None:
        return True
    bare = state.kept.step is None or not state.kept.step.end  # the words of a bar decide what it is of
    return (bare and _is_certain(state.kept.step)) or _is_certain(state.kept.loss)


def _is_certain(chosen: Chosen | None) -> bool:
    return chosen is not None and chosen.score >= _LONE


def _with_step(metric: JobMetric, counted: Sequence[CounterValue], state: TrackState) -> JobMetric:
    """Return `metric` with the newest step of a counter, if it has none, and with the speed that follows from the counter."""
    chosen = state.kept.step
    if not counted or chosen is None or chosen.bar or metric.step is not None or _is_taken(metric, counted, state):
        return metric
    metric = msgspec.structs.replace(metric, step=counted[-1].step)
    if not _has_no_speed(metric):
        return metric
    known = summarise(_counted_reports(state.window, counted))
    metric = msgspec.structs.replace(
        metric,
        step_time_s=known.step_time_s,
        throughput=known.throughput,
        throughput_unit=known.throughput_unit,
        method=known.method,
        confidence=known.confidence,
    )
    clock = pace_of_counter(counted) if _has_no_speed(metric) else None
    if clock is None:
        return metric
    return msgspec.structs.replace(metric, step_time_s=clock.seconds, method=clock.method, confidence=0.5)


def _is_taken(metric: JobMetric, counted: Sequence[CounterValue], state: TrackState) -> bool:
    """Return whether the counter is one that the reports read as an epoch or as samples: a number has one role."""
    values = {metric.epoch, *(report.epoch for report in state.window), *(report.step for report in state.window)}
    return not (values - {None}).isdisjoint(each.step for each in counted[-6:])


def _counted_reports(window: Sequence[Report], counted: Sequence[CounterValue]) -> list[Report]:
    """Return the reports with the steps that are printed in them or before them; one of its own for a step without a report."""
    found: list[Report] = []
    for place, each in enumerate(counted):
        until = counted[place + 1].line if place + 1 < len(counted) else inf
        known = next((report for report in window if each.line <= report.line < until), None)
        report = known or Report(each.line, 0, each.arrival, "", 0, stamp=each.stamp)
        found.append(
            msgspec.structs.replace(
                report, step=each.step, step_name="column", unnamed=False, total=None, epoch=None, rank=None
            )
        )
    return found
