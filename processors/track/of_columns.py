"""What number columns and events tell of step, loss and speed, where reports leave it open or read another column than the likeliest."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf

import msgspec

from schedmate_records import JobMetric, derived_id

from ..classified_chunk import ClassifiedChunk
from ..grammar.units import SAMPLES
from ..read.column_search import ColumnSearch, CounterValue, LossValue, losses, steps
from ..read.kept import Chosen, KeptSeries
from ..read.robust import median
from ..read.roles import Role
from ..read.roles import counted as counted_by_name
from ..read.solver import solve
from .pace import of_counter
from .reports import Report
from .state import TrackState
from .summary import Summary, summarise


def of_events(
    view: ClassifiedChunk, state: TrackState, told: int | None, reported: JobMetric | None
) -> JobMetric | None:
    """Return what events tell, where reports leave it open; None where events tell nothing.

    Args:
        view: The chunk.
        state: What is remembered of its stream.
        told: Place of the newest event of the chunk; None without one.
        reported: What the reports of the chunk tell; None without one.
    """
    if not state.events.events or (reported is None and (told is None or _told_by_reports(state))):
        return None
    stated = reported.throughput if reported is not None else None
    solution = solve(state.events, stated)
    best, last = solution.best if solution is not None else None, state.events.last_step
    if best is None and last is None:
        return None
    measured = reported or measured_before(view, state, told or 0, best.points if best is not None else 0)
    step = measured.step
    if step is None or (best is not None and best.step is not None and step == best.value):
        step = best.step if best is not None and best.step is not None else last  # its own counts samples or tokens
    measured = msgspec.structs.replace(measured, step=step)
    tested = not stated or (
        best is not None and best.samples_per_s
    )  # a stated rate tests a derived time, where a batch is known
    if best is not None and tested and measured.step_time_s is None and (best.step_time_s or best.samples_per_s):
        measured = msgspec.structs.replace(
            measured,
            step_time_s=best.step_time_s,
            throughput=stated or best.samples_per_s,
            throughput_unit=measured.throughput_unit if stated else SAMPLES if best.samples_per_s else None,
            method="timestamps" if best.step_time_s else measured.method,
            confidence=round(0.8 * min(1.0, best.points / 4), 3),
        )
    nothing = measured.step_time_s is None and measured.throughput is None and measured.step is None
    return None if reported is None and nothing else measured


def _told_by_reports(state: TrackState) -> bool:
    """Return whether the reports so far tell a speed: events of a later chunk do not replace it."""
    known = summarise(state.window) if state.window else None
    return known is not None and (known.step_time_s is not None or known.throughput is not None)


def is_open(known: JobMetric | Summary) -> bool:
    """Return whether no speed is known."""
    return known.step_time_s is None and known.throughput is None


def measured_before(view: ClassifiedChunk, state: TrackState, place: int, reports: int) -> JobMetric:
    """Return what reports said before, for a chunk that holds none."""
    known = summarise(state.window) if state.window else None
    return JobMetric(
        id=derived_id("metric", view.job, view.position, view.numbers[place]),
        job=view.job,
        attempt=view.attempt,
        node=view.node,
        rank=view.rank,
        time=view.times[place],
        step=known.step if known else None,
        epoch=known.epoch if known else None,
        step_time_s=known.step_time_s if known else None,
        throughput=known.throughput if known else None,
        throughput_unit=known.throughput_unit if known else None,
        loss=state.loss,
        loss_not_finite=state.loss_not_finite,
        loss_step=state.loss_step,
        confidence=known.confidence if known else 0.0,
        method=known.method if known else "unknown",
        reports=reports,
        evidence=[view.evidence(place)],
    )


OBJECTS_STEP, OBJECTS_NAMED, OBJECTS_LOSS, OBJECTS_PART = 3.0, 9.0, 3.5, 1.5
"""Log odds from which columns are taken though reports were read otherwise; of steps that a good name counts, of a loss of a part."""
LONE = 3.0
"""Log odds from which one column alone says that this is a training."""
_BORNE_OUT = 0.8
"""Confidence of a stated time that agrees with a clock."""
_PART_RANK = 3
"""Rank of a loss (`names.loss_rank`) whose name only ends in `loss`: often that of a part."""
_COLUMN = "column"
"""Name of a counter that columns told."""
SETTLED = 200
"""Rows after which columns that add nothing are no longer looked at."""
_IDLE = 4000
"""Lines that are passed over then at first, where reports leave something open."""
_NEWEST = 6
"""Reports whose numbers tell whether a column holds the same."""
_OF_COUNTER = 0.5
"""Confidence of the speed of a counter that no name tells."""


def of_columns(
    view: ClassifiedChunk, state: TrackState, columns: ColumnSearch, reported: JobMetric | None
) -> JobMetric | None:
    """Return what number columns tell of step, speed and loss, where reports leave it open or read another counter than the likeliest.

    None where they add nothing.
    """
    if _passes_over(view, state, reported):
        return _without_part(reported, state)
    kept = state.kept
    if not columns.take(zip(view.numbers, view.lines, view.times, strict=True), kept):
        return None
    counted, lossy = steps(kept), losses(kept)
    newest = max([*(each.line for each in counted[-1:]), *(each.line for each in lossy[-1:])], default=0)
    if reported is None and (newest not in view.numbers or not _trains(state, counted, lossy)):
        _rest(state)
        return _without_part(reported, state)
    measured = reported or measured_before(view, state, view.numbers.index(newest), len(counted))
    completed = _with_loss(_with_step(measured, counted, state), lossy, state)
    if completed != measured:
        return _without_part(completed, state) or completed
    _rest(state, settled=reported is not None and _is_settled(reported))
    return _without_part(reported, state)


def _without_part(metric: JobMetric | None, state: TrackState) -> JobMetric | None:
    """Return `metric` without the loss that the name of a part tells alone, no column being likely to be the loss; None where it stays."""
    if metric is None or metric.loss is None or not state.kept.no_loss or not state.window:
        return None
    rank = min((report.loss_rank for report in state.window if report.has_loss), default=0)
    return msgspec.structs.replace(metric, loss=None) if rank == _PART_RANK else None


def _passes_over(view: ClassifiedChunk, state: TrackState, reported: JobMetric | None) -> bool:
    """Return whether the columns of a chunk are not looked at."""
    if state.events.begun:
        return True  # a log that says when runs begin has counters of its own
    if state.kept.settled or _sure(reported, state.window):
        if _is_settled(reported):
            state.kept = state.kept if state.kept.settled else KeptSeries(settled=True, no_loss=state.kept.no_loss)
            return True
        state.kept = KeptSeries(no_loss=state.kept.no_loss)
    if state.kept.idle:
        state.kept.idle = max(0, state.kept.idle - len(view.lines))
        return True
    return False


def _rest(state: TrackState, *, settled: bool = False) -> None:
    """Pass over the next lines where so many told nothing new; over more each time."""
    if state.kept.seen >= SETTLED:
        rounds = state.kept.rounds
        state.kept = KeptSeries(
            settled=settled,
            idle=0 if settled else _IDLE << (2 * min(rounds, 4)),
            rounds=rounds + 1,
            no_loss=state.kept.no_loss,
        )


def _sure(metric: JobMetric | None, window: Sequence[Report]) -> bool:
    """Return whether reports tell all, by names that leave no doubt or with a stated time that the clock of their counter bears out."""
    if metric is None or not window or not _is_settled(metric) or window[-1].loss_rank >= _PART_RANK:
        return False
    borne_out = metric.method in ("stated", "rate") and metric.confidence >= _BORNE_OUT
    return borne_out or counted_by_name(window[-1].step_name) is Role.STEP


def _is_settled(metric: JobMetric | None) -> bool:
    """Return whether reports tell all that columns could; True without a report."""
    return metric is None or (metric.step is not None and metric.loss is not None and not is_open(metric))


def _trains(state: TrackState, counted: Sequence[CounterValue], lossy: Sequence[LossValue]) -> bool:
    """Return whether columns alone say that this is a training: two kinds of numbers do, or one that is all but sure."""
    if (counted and lossy) or state.window or state.loss is not None:
        return True
    bare = (
        state.kept.step is not None and not state.kept.step.end
    )  # of a bar, its own words say whether it is of a training
    return any(
        chosen is not None and chosen.score >= LONE for chosen in (state.kept.step if bare else None, state.kept.loss)
    )


def _with_step(metric: JobMetric, counted: Sequence[CounterValue], state: TrackState) -> JobMetric:
    """Return `metric` with the step of the likeliest counter; what reports say of speed is read again with it."""
    if not counted or state.kept.step is None:
        return metric
    if metric.step is None and state.kept.step.bar:
        return metric  # what a bar counts its own words say, and they were read
    epochs = [*(report.epoch for report in state.window), metric.epoch]
    if _same(epochs, [each.step for each in counted]):
        return metric  # a number has one role
    same = _same([report.step for report in state.window], [each.step for each in counted])
    if metric.step is not None and (same or not _objects(state.kept.step, counted, state.window)):
        arrived = same and is_open(metric) and not state.kept.step.end  # printed times were weighed with the reports
        return _with_clock(metric, counted, ("arrival",)) if arrived else metric
    known = summarise(_counted(state.window, counted))
    metric = msgspec.structs.replace(
        metric,
        step=counted[-1].step,
        step_time_s=known.step_time_s,
        throughput=known.throughput,
        throughput_unit=known.throughput_unit,
        method=known.method,
        confidence=known.confidence,
    )
    return _with_clock(metric, counted) if is_open(metric) else metric


def _with_clock(
    metric: JobMetric, counted: Sequence[CounterValue], methods: Sequence[str] = ("timestamps", "arrival")
) -> JobMetric:
    """Return `metric` with the pace of the counter, where a clock tells it."""
    clock = of_counter(counted)
    if clock is None or clock.method not in methods:
        return metric
    return msgspec.structs.replace(metric, step_time_s=clock.seconds, method=clock.method, confidence=_OF_COUNTER)


def _objects(chosen: Chosen, counted: Sequence[CounterValue], window: Sequence[Report]) -> bool:
    """Return whether a counter is to be taken though reports name another one: a good name, or ends of both, speak for theirs."""
    if not window or _stopped([each.line for each in counted], window) or (chosen.end and window[-1].total is not None):
        return False
    named = counted_by_name(window[-1].step_name) is Role.STEP
    return chosen.score >= (OBJECTS_NAMED if named else OBJECTS_STEP)


def _counted(window: Sequence[Report], counted: Sequence[CounterValue]) -> list[Report]:
    """Return the reports with the steps that stand in them or before them; one of its own for a step without a report."""
    found: list[Report] = []
    for place, each in enumerate(counted):
        until = counted[place + 1].line if place + 1 < len(counted) else inf
        known = next((report for report in window if each.line <= report.line < until), None)
        report = known or Report(each.line, 0, each.arrival, "", 0, stamp=each.stamp)
        found.append(
            msgspec.structs.replace(
                report, step=each.step, step_name=_COLUMN, unnamed=False, total=None, epoch=None, rank=None
            )
        )
    return found


def _with_loss(metric: JobMetric, lossy: Sequence[LossValue], state: TrackState) -> JobMetric:
    """Return `metric` with the loss of the likeliest column. What a name says is that of a part gives way sooner."""
    if not lossy or not lossy[-1].loss or state.kept.loss is None or metric.loss_not_finite:
        return metric  # a loss of 0 is that of a part that is not trained
    same = _same([report.loss for report in state.window], [each.loss for each in lossy])
    rank = min((report.loss_rank for report in state.window), default=0)
    needed = OBJECTS_PART if rank >= _PART_RANK else OBJECTS_LOSS
    weak = state.kept.loss.score < needed or _stopped([each.line for each in lossy], state.window)
    if metric.loss is not None and (same or weak):
        return metric
    return msgspec.structs.replace(metric, loss=lossy[-1].loss, loss_step=None)


def _stopped(lines: Sequence[int], window: Sequence[Report]) -> bool:
    """Return whether reports went on where a column did not: it lacks more than two of its usual gaps."""
    gaps = [later - earlier for earlier, later in pairwise(lines)]
    return bool(window) and window[-1].line - lines[-1] > 2 * median(gaps or [1]) + 2


def _same(read: Sequence[float | None], found: Sequence[float | None]) -> bool:
    """Return whether reports and a column tell the same numbers: of the newest of one, half are among the other's."""
    for some, others in ((read, found), (found, read)):
        newest = {value for value in some[-_NEWEST:] if value is not None}
        if newest and 2 * len(newest.intersection(others)) >= len(newest):
            return True
    return False
