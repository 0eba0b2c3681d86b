"""What number series tell where reports leave it open: the counters of events, and a counter that no report names."""

import msgspec

from processors.classified_chunk import ClassifiedChunk
from processors.grammar.units import SAMPLES
from processors.read import counter_search
from processors.read.counter_search import CounterValue, SearchState
from processors.read.series import SeriesReader
from processors.read.solver import solve
from records import JobMetric, derived_id

from .pace import of_counter
from .state import TrackState
from .summary import summarise

_OF_COUNTER = 0.5
"""Confidence of the speed of a counter that no name tells."""


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
    measured = reported or _measured(view, state, told or 0, best.points if best is not None else 0)
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


def of_counters(
    view: ClassifiedChunk, state: TrackState, reader: SeriesReader, reported: JobMetric | None
) -> JobMetric | None:
    """Return the step of a training whose reports name none: that of the counter that agrees best.

    None where they name one, and where no counter is likely enough.
    """
    counts = state.named or any(report.step is not None for report in state.window)
    if counts or state.events.events:
        state.search = SearchState()  # events have their own counters
        return None
    if not counter_search.observe(zip(view.numbers, view.lines, view.times, strict=True), reader, state.search):
        return None
    if not state.window and state.loss is None:
        return None  # nothing says that this is a training
    told = counter_search.search(reader, state.search)
    return _counted(view, state, told, reported) if told else None


def _counted(
    view: ClassifiedChunk, state: TrackState, told: list[CounterValue], reported: JobMetric | None
) -> JobMetric:
    place = view.numbers.index(told[-1].line) if told[-1].line in view.numbers else len(view.lines) - 1
    measured = reported or _measured(view, state, place, len(told))
    measured = msgspec.structs.replace(measured, step=told[-1].step)
    clock = of_counter(told) if measured.step_time_s is None else None
    if clock is None:
        return measured
    return msgspec.structs.replace(measured, step_time_s=clock.seconds, method=clock.method, confidence=_OF_COUNTER)


def _measured(view: ClassifiedChunk, state: TrackState, place: int, reports: int) -> JobMetric:
    return JobMetric(
        id=derived_id("metric", view.job, view.position, view.numbers[place]),
        job=view.job,
        attempt=view.attempt,
        node=view.node,
        rank=view.rank,
        time=view.times[place],
        loss=state.loss,
        loss_not_finite=state.loss_not_finite,
        method="unknown",
        reports=reports,
        evidence=[view.evidence(place)],
    )
