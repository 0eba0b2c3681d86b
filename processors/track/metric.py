"""Metrics made of the newest reports of a stream."""

from typing import Any

import msgspec

from schedmate_records import Evidence, JobMetric, Position, derived_id

from ..classified_chunk import ClassifiedChunk
from .ranks import ranks_of_stream
from .reports import Report
from .state import TrackState
from .summary import Summary, summarise

_SUMMARISED = (set(Summary.__struct_fields__) & set(JobMetric.__struct_fields__)) - {"loss", "loss_step"}
"""Fields that a metric takes from the summary of its reports."""


class Printed(msgspec.Struct, frozen=True):
    """Source of a report: the process that printed it, and the position of the chunk."""

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
    losses: dict[str, Any] = {"loss": summary.loss, "loss_not_finite": summary.loss is None} if summary.has_loss else {}
    if summary.loss_step is not None and not state.loss_not_finite:
        losses["loss_step"] = summary.loss_step
    return msgspec.structs.replace(
        _metric(printed, state, summary, newest.line, newest.time),
        **losses,
        reports=len(state.window),
        since=oldest.time,
        since_step=oldest.step if summary.step is not None else None,
        over_ranks=ranks_of_stream(state.window, summary.step_time_s),
        evidence=[_evidence(report, printed) for report in ([newest, oldest] if clocked else [newest])],
    )


def metric_before(view: ClassifiedChunk, state: TrackState, place: int, reports: int) -> JobMetric:
    """Return a metric for line `place` of a chunk without reports: with the numbers of the reports before it."""
    known = summarise(state.window) if state.window else None
    metric = _metric(Printed.of(view), state, known, view.numbers[place], view.times[place])
    return msgspec.structs.replace(metric, reports=reports, evidence=[view.evidence(place)])


def _metric(printed: Printed, state: TrackState, summary: Summary | None, line: int, time: float) -> JobMetric:
    numbers: dict[str, Any] = {name: getattr(summary, name) for name in _SUMMARISED} if summary else {}
    return JobMetric(
        id=derived_id("metric", printed.job, printed.position, line),
        job=printed.job,
        attempt=printed.attempt,
        node=printed.node,
        rank=printed.rank,
        time=time,
        loss=state.loss,
        loss_not_finite=state.loss_not_finite,
        loss_step=state.loss_step,
        **numbers,
    )


def _evidence(report: Report, printed: Printed) -> Evidence:
    place = msgspec.structs.asdict(printed.position) | {"offset": report.offset}
    return Evidence(**place, line=report.line, text=report.text, rank=printed.rank, stream=printed.stream)
