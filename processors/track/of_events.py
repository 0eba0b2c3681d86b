"""What events tell where reports leave it open, and what reports told before."""

import msgspec

from processors.classified_chunk import ClassifiedChunk
from processors.grammar.units import SAMPLES
from processors.read.solver import solve
from records import JobMetric, derived_id

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
        confidence=known.confidence if known else 0.0,
        method=known.method if known else "unknown",
        reports=reports,
        evidence=[view.evidence(place)],
    )
