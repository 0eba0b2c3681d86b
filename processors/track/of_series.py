"""What number series tell where reports leave it open: the counters of events, and a counter that no report names."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from processors.classified_chunk import ClassifiedChunk
from processors.grammar.units import SAMPLES
from processors.read import counter_search
from processors.read.counter_search import CounterValue, SearchState
from processors.read.robust import median
from processors.read.series import SeriesReader
from processors.read.solver import solve
from records import JobMetric, derived_id

from .pace import of_counter
from .state import TrackState

_OF_COUNTER = 0.5
"""Confidence of the speed of a counter that no name tells."""

_OF_CLOCK = ("timestamps", "arrival", "unknown")
"""Methods by which a speed rests on the step."""


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
    if not state.events.events or (reported is None and (told is None or state.reported_at)):
        return None  # or reports have told the speed
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
    if best is not None and measured.step_time_s is None and (best.step_time_s or best.samples_per_s):
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


def of_counters(
    view: ClassifiedChunk, state: TrackState, reader: SeriesReader, reported: JobMetric | None
) -> JobMetric | None:
    """Return the step of the counter that agrees best, where reports name none, or another one; None where theirs stands.

    A few looks at the beginning of a stream settle whether the counter that reports name is that one: then it is not looked for any more.
    """
    search = state.search
    if search.settled:
        return None
    counts = state.named or any(report.step is not None for report in state.window)
    if state.events.events or (counts and state.header):
        state.search = SearchState(settled=True)  # events have their own counters, and a header names those of its rows
        return None
    if not counter_search.observe(zip(view.numbers, view.lines, view.times, strict=True), reader, search):
        return None
    if counts and (reported is None or reported.step is None):
        return None  # it was left open on purpose
    told = counter_search.search(reader, search, sure=counts)
    if counts and reported is not None and _stands(search, told, reported):
        if search.agreed >= counter_search.AGREED or search.looks >= counter_search.LOOKS:
            state.search = SearchState(settled=True)
        return None
    return _counted(view, state, told, reported) if told else None


def _stands(search: SearchState, told: list[CounterValue], reported: JobMetric) -> bool:
    """Return whether the step of the reports stands: the search found the same one, or none. `search` moves on."""
    same = reported.step is not None and _is_of(reported.step, [each.step for each in told])
    search.looks, search.agreed = search.looks + (not told), search.agreed + same
    return same or not told


def _is_of(step: int, values: Sequence[int]) -> bool:
    """Return whether a step is one of a counter's values, or follows one: the line that told it may be printed in another way."""
    strides = [later - earlier for earlier, later in pairwise(values) if later > earlier]
    stride = median(strides) if strides else 0
    return any(0 <= step - value <= stride for value in values)


def _counted(
    view: ClassifiedChunk, state: TrackState, told: list[CounterValue], reported: JobMetric | None
) -> JobMetric:
    place = view.numbers.index(told[-1].line) if told[-1].line in view.numbers else len(view.lines) - 1
    measured = reported or _measured(view, state, place, len(told))
    by_clock = measured.step is not None and measured.method in _OF_CLOCK
    measured = msgspec.structs.replace(measured, step=told[-1].step)
    clock = of_counter(told) if measured.step_time_s is None or by_clock else None
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
