"""Metrics made of the newest reports of a stream."""

import msgspec

from schedmate_records import Evidence, JobMetric, Position, derived_id

from ..classified_chunk import ClassifiedChunk
from .ranks import ranks_of_stream
from .reports import Report
from .state import TrackState
from .summary import summarise


class Printed(msgspec.Struct, frozen=True):
    """Printed of a report: the process that printed it, and the position of the chunk."""

    job: str
    attempt: int
    node: str
    rank: int
    stream: str
    position: Position

    @classmethod
    def of(cls, view: ClassifiedChunk) -> "Printed":
        """Return the source of a chunk's lines."""
        return cls(view.job, view.attempt, view.node, view.rank, view.stream, view.position)


def make_metric(printed: Printed, state: TrackState) -> JobMetric:
    """Return the metric of the newest reports, of which there is at least one."""
    summary = summarise(state.window)
    newest, oldest = state.window[-1], state.window[0]
    clocked = summary.method in ("timestamps", "arrival") and oldest is not newest
    return JobMetric(
        id=derived_id("metric", printed.job, printed.position, newest.line),
        job=printed.job,
        attempt=printed.attempt,
        node=printed.node,
        rank=printed.rank,
        time=newest.time,
        step=summary.step,
        step_name=summary.step_name,
        step_total=summary.step_total,
        epoch=summary.epoch,
        epoch_total=summary.epoch_total,
        left_s=summary.left_s,
        step_time_s=summary.step_time_s,
        throughput=summary.throughput,
        throughput_unit=summary.throughput_unit,
        loss=summary.loss if summary.has_loss else state.loss,
        loss_not_finite=summary.loss is None if summary.has_loss else state.loss_not_finite,
        loss_step=state.loss_step if state.loss_not_finite or summary.loss_step is None else summary.loss_step,
        confidence=summary.confidence,
        method=summary.method,
        reports=len(state.window),
        since=oldest.time,
        since_step=oldest.step if summary.step is not None else None,
        over_ranks=ranks_of_stream(state.window, summary.step_time_s),
        evidence=[_evidence(report, printed) for report in ([newest, oldest] if clocked else [newest])],
    )


def metric_before(view: ClassifiedChunk, state: TrackState, place: int, reports: int) -> JobMetric:
    """Return a metric for line `place` of a chunk without reports: with the numbers of the reports before it."""
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


def _evidence(report: Report, printed: Printed) -> Evidence:
    return Evidence(
        topic=printed.position.topic,
        partition=printed.position.partition,
        offset=report.offset,
        line=report.line,
        text=report.text,
        rank=printed.rank,
        stream=printed.stream,
    )
