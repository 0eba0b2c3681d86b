"""Records to changes: which section of which hash a record moves forward, and to what.

A section is a group of fields from one source with a position of its own (attempt, then time or revision, then offset). A source
that is late or replayed changes nothing, and never holds back another source.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

import schedmate_records as records
from schedmate_records import CheckpointState, ErrorType, EventKind, Position, Record, Severity

_LARGEST_RANK = 10**9
"""Above every rank, so that the lowest rank has the highest position and alone represents the job."""
_SCHEDULED = 10**19
"""Above every attempt: lifts the events of schedulers above those of pipes."""
_STATES = {
    EventKind.SUBMITTED: "submitted",
    EventKind.STARTED: "running",
    EventKind.REQUEUED: "requeued",
    EventKind.ENDED: "ended",
}
_ONLY_WHEN_ENDED = ("exit_code", "signal", "scheduler_state", "ended")
_json = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class SectionUpdate:
    """One section of one hash, as one record has it.

    Attributes:
        kind: `job`, `ranks`, `node`, `cluster` or `format`: which hash.
        name: The job, node or cluster, or the fingerprint of the format.
        section: The field that holds the position.
        position: Text that sorts as the positions do.
        fields: The section's fields; an empty value takes a field away.
        newest_only: True where a later change of the section replaces all that this one sets.
        incarnation: Which job of the id it is about; empty where not known.
        time: Time of the record, in seconds since 1970.
    """

    kind: str
    name: str
    section: str
    position: str
    fields: Mapping[str, str]
    newest_only: bool = False
    incarnation: str = ""
    time: float = 0.0


def changes(place: Position, record: Record) -> list[SectionUpdate]:
    """Return what `record`, read at `place`, changes. Nothing where Redis does not show its kind."""
    make = _MAKERS.get(type(record))
    made = make(place, record) if make else []
    if not (incarnation := getattr(record, "incarnation", "")):
        return made
    return [replace(each, incarnation=incarnation, time=getattr(record, "time", 0.0)) for each in made]


def _position(*numbers: float) -> str:
    """Return text whose order is that of `numbers` (0 to 10^20 each; others are moved into that range)."""
    # In this order of arguments a NaN becomes 0.
    return ":".join(f"{int(min(max(0, number), 10**20)):021d}" for number in numbers)


def _micros(seconds: float) -> float:
    return min(max(0.0, seconds), 1e13) * 1e6


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if type(value) is str else str(value)


def _fields(**values: Any) -> dict[str, str]:
    return _named(values)


def _named(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in values.items()}


def _event(place: Position, event: records.JobEvent) -> list[SectionUpdate]:
    if event.kind in (EventKind.DESCRIBED, EventKind.RANK_STARTED, EventKind.RANK_ENDED):
        return []
    # What a pipe reports changes nothing once a scheduler has reported the job, whatever attempt or time the pipe names.
    lifted = _position(event.attempt + _SCHEDULED * (not event.by_producer), _micros(event.time), place.offset)
    at = _position(event.attempt, _micros(event.time), place.offset)
    if event.kind in (EventKind.PACKED, EventKind.UNPACKED):
        other_job = event.packed_with if event.kind is EventKind.PACKED else ""
        packing = SectionUpdate("job", event.job, "packing_at", at, _fields(packed_with=other_job))
        return [packing] if other_job else [packing, _not_slowed(event.job, at)]
    if event.kind not in _STATES:
        fields = _fields(
            warning=event.kind.value,
            warning_detail=event.detail,
            warning_time=event.time,
            lines_lost=event.lines or None,
        )
        return [SectionUpdate("job", event.job, "warning_at", at, fields)]
    fields = _fields(state=_STATES[event.kind], attempt=event.attempt, state_time=event.time)
    known = {
        "scheduler": event.scheduler,
        "nodes": _json(event.nodes).decode() if event.nodes else "",
        "gpus": event.gpus,
        "command": event.command,
        "directory": event.directory,
        "user": event.user,
        "name": event.name,
        "branch": event.branch,
    }
    # An event that does not know does not take away what another one knew.
    fields |= {name: _text(value) for name, value in known.items() if value not in ("", None)}
    if event.kind is EventKind.ENDED:
        fields |= _fields(
            exit_code=event.exit_code,
            signal=event.signal,
            scheduler_state=event.state,
            ended=event.time,
            packed_with=None,
        )
    else:
        fields |= dict.fromkeys(_ONLY_WHEN_ENDED, "")
        if event.kind is EventKind.STARTED:
            fields |= _fields(started=event.time)
    change = SectionUpdate("job", event.job, "event_at", lifted, fields)
    ends_packing = event.kind is not EventKind.SUBMITTED and not event.by_producer
    return [change, _not_slowed(event.job, at)] if ends_packing else [change]


def _not_slowed(job: str, at: str) -> SectionUpdate:
    """Return the change that takes a slowdown away: the packing, or the attempt, is over."""
    fields = dict.fromkeys(("slowed_by", "slowdown_ratio", "slowdown_time", "slowdown_attempt"), "")
    return SectionUpdate("job", job, "slowdown_at", at, fields, newest_only=True)


def _metric(place: Position, metric: records.JobMetric) -> list[SectionUpdate]:
    at = (_micros(metric.time), place.offset)
    fields = _fields(
        metric_attempt=metric.attempt,
        metric_rank=metric.rank,
        metric_time=metric.time,
        step=metric.step,
        epoch=metric.epoch,
        step_time_s=metric.step_time_s,
        throughput=metric.throughput,
        throughput_unit=metric.throughput_unit,
        loss=metric.loss,
        loss_not_finite=metric.loss_not_finite or None,
        loss_step=metric.loss_step,
        metric_confidence=metric.confidence,
        metric_method=metric.method,
    )
    rank = {
        "attempt": metric.attempt,
        "rank": metric.rank,
        "node": metric.node,
        "time": metric.time,
        "step": metric.step,
        "step_time_s": metric.step_time_s,
    }
    # The job shows its lowest rank: the further down, the later its position counts.
    lowest_first = max(_LARGEST_RANK - metric.rank, 0)
    return [
        SectionUpdate(
            "job", metric.job, "metric_at", _position(metric.attempt, lowest_first, *at), fields, newest_only=True
        ),
        SectionUpdate(
            "ranks",
            metric.job,
            f"{metric.rank}:at",
            _position(metric.attempt, *at),
            {str(metric.rank): _json(rank).decode()},
            newest_only=True,
        ),
    ]


def _alarm(place: Position, alarm: records.Alarm) -> list[SectionUpdate]:
    at = _position(alarm.attempt, _micros(alarm.time), place.offset)
    detail, since, attempt, over = (f"{name}alarm_{alarm.kind}" for name in ("", "since_", "attempt_", "over_"))
    if alarm.raised:
        fields = _named({detail: alarm.detail, since: alarm.since, attempt: alarm.attempt, over: None})
    elif alarm.kind.describes_ended:
        fields = _named({over: alarm.time})
    else:
        fields = dict.fromkeys((detail, since, attempt, over), "")
    return [SectionUpdate("job", alarm.job, f"alarm_{alarm.kind}_at", at, fields)]


def _checkpoint(place: Position, checkpoint: records.Checkpoint) -> list[SectionUpdate]:
    since, over = _micros(checkpoint.since), checkpoint.state is not CheckpointState.STARTED
    save = _fields(
        save=checkpoint.state.value,
        save_attempt=checkpoint.attempt,
        save_since=checkpoint.since,
        save_time=checkpoint.time,
        save_duration_s=checkpoint.usual_duration_s,
        save_interval_s=checkpoint.interval_s,
    )
    newest = _position(checkpoint.attempt, checkpoint.number, over, place.offset)
    updates = [SectionUpdate("job", checkpoint.job, "save_at", newest, save, newest_only=True)]
    if checkpoint.state is CheckpointState.DURABLE:
        fields = _fields(
            checkpoint_attempt=checkpoint.attempt,
            checkpoint_since=checkpoint.since,
            checkpoint_time=checkpoint.time,
            checkpoint_by=checkpoint.durable_by and checkpoint.durable_by.value,
            checkpoint_step=checkpoint.step,
            checkpoint_path=checkpoint.path,
        )
        at = _position(checkpoint.attempt, since, place.offset)
        updates.append(SectionUpdate("job", checkpoint.job, "checkpoint_at", at, fields, newest_only=True))
    return updates


def _failure(_: Position, failure: records.Failure) -> list[SectionUpdate]:
    root = failure.root
    fields = _fields(
        verdict=failure.error_type.value,
        verdict_attempt=failure.attempt,
        verdict_revision=failure.revision,
        verdict_time=failure.time,
        verdict_message=failure.message,
        verdict_component=failure.faulty_component.value,
        verdict_signature=failure.signature,
        verdict_source=failure.source.value,
        verdict_confirmed_by=_json(failure.confirmed_by).decode(),
        verdict_contradicted_by=_json(failure.contradicted_by).decode(),
        verdict_node=failure.node,
        verdict_restartable=failure.restartable,
        verdict_confidence=failure.confidence,
        verdict_final=failure.final,
        verdict_line=root and root.text,
        verdict_place=root and f"{root.topic}/{root.partition}/{root.offset}:{root.line}",
    )
    at, field = _position(failure.attempt, failure.revision), f"failure:{failure.attempt}"
    kept = {name: fields[f"verdict_{name}"] for name in ("component", "signature", "message", "line")}
    summary = _json({"attempt": failure.attempt, "verdict": failure.error_type.value, **kept}).decode()
    retracted = failure.error_type is ErrorType.NONE
    return [
        SectionUpdate("job", failure.job, "verdict_at", at, fields, newest_only=True),
        SectionUpdate("job", failure.job, f"{field}:at", at, {field: "" if retracted else summary}, newest_only=True),
    ]


def _slowdown(place: Position, slowdown: records.Slowdown) -> list[SectionUpdate]:
    if slowdown.recovered is not None:  # it is over: the end of the packing took it away
        return []
    at = _position(slowdown.attempt, _micros(slowdown.time), place.offset)
    fields = _fields(
        slowed_by=slowdown.packed_job,
        slowdown_ratio=slowdown.ratio,
        slowdown_time=slowdown.time,
        slowdown_attempt=slowdown.attempt,
    )
    return [SectionUpdate("job", slowdown.job, "slowdown_at", at, fields, newest_only=True)]


def _estimate(place: Position, estimate: records.Estimate) -> list[SectionUpdate]:
    fields = _fields(
        estimate_attempt=estimate.attempt,
        estimate_time=estimate.time,
        estimate_duration_s=estimate.duration_s,
        estimate_low_s=estimate.duration_low_s,
        estimate_high_s=estimate.duration_high_s,
        estimate_remaining_s=estimate.remaining_s,
        estimate_remaining_low_s=estimate.remaining_low_s,
        estimate_remaining_high_s=estimate.remaining_high_s,
        estimate_done=estimate.done,
        estimate_method=estimate.method,
    )
    at = _position(estimate.attempt, estimate.revision, _micros(estimate.time), place.offset)
    updates = [SectionUpdate("job", estimate.job, "estimate_at", at, fields, newest_only=True)]
    if estimate.gpu_utilisation is not None:  # estimates from progress do not have it, and do not remove it
        used = _fields(estimate_gpu_utilisation=estimate.gpu_utilisation)
        updates.append(SectionUpdate("job", estimate.job, "estimate_gpu_at", at, used, newest_only=True))
    return updates


def _decision(place: Position, decision: records.Decision) -> list[SectionUpdate]:
    if decision.action.on_node:
        return []
    fields = _fields(
        decision=decision.action.value,
        decision_id=decision.id,
        decision_time=decision.time,
        decision_mode=decision.mode.value,
        decision_reason=decision.reason,
    )
    at = _position(decision.attempt, _micros(decision.time), place.offset)
    return [SectionUpdate("job", decision.job, "decision_at", at, fields, newest_only=True)]


def _result(place: Position, result: records.DecisionResult) -> list[SectionUpdate]:
    if result.action.on_node:
        return []
    fields = _fields(
        outcome=result.outcome.value,
        outcome_of=result.decision_id,
        outcome_time=result.time,
        outcome_detail=result.detail,
        outcome_actuator=result.actuator,
    )
    at = _position(result.attempt, _micros(result.time), result.outcome.final, place.offset)
    return [SectionUpdate("job", result.job, "outcome_at", at, fields, newest_only=True)]


def _feedback(place: Position, feedback: records.Feedback) -> list[SectionUpdate]:
    fields = _fields(
        feedback_cause=feedback.cause,
        feedback_attempt=feedback.attempt,
        feedback_user=feedback.user,
        feedback_time=feedback.time,
        feedback_line=feedback.line,
    )
    at = _position(feedback.attempt, _micros(feedback.time), place.offset)
    return [SectionUpdate("job", feedback.job, "feedback_at", at, fields, newest_only=True)]


def _sample(place: Position, sample: records.GpuSample) -> list[SectionUpdate]:
    at = _position(_micros(sample.time), place.offset)
    fields = {f"gpu:{sample.gpu}": _json(sample).decode()}
    return [SectionUpdate("node", sample.node, f"gpu:{sample.gpu}:at", at, fields, newest_only=True)]


def _finding(place: Position, finding: records.NodeFinding) -> list[SectionUpdate]:
    if finding.severity is Severity.INFO:
        return []
    field = f"finding:{finding.signature}"
    at = _position(_micros(finding.time), finding.times, place.offset)
    return [SectionUpdate("node", finding.node, f"{field}:at", at, {field: _json(finding).decode()}, newest_only=True)]


def _quota(place: Position, quota: records.Quota) -> list[SectionUpdate]:
    at = _position(_micros(quota.time), place.offset)
    return [SectionUpdate("cluster", quota.cluster, "quota_at", at, {"quota": _json(quota).decode()}, newest_only=True)]


def _format(place: Position, known: records.KnownFormat) -> list[SectionUpdate]:
    at = _position(_micros(known.time), place.offset)
    fields = {"format": "" if known.forgotten else _json(known).decode()}
    return [SectionUpdate("format", known.fingerprint, "format_at", at, fields, newest_only=True)]


_MAKERS: dict[type[Record], Callable[[Position, Any], list[SectionUpdate]]] = {
    records.JobEvent: _event,
    records.JobMetric: _metric,
    records.Failure: _failure,
    records.Slowdown: _slowdown,
    records.Alarm: _alarm,
    records.Checkpoint: _checkpoint,
    records.Estimate: _estimate,
    records.Decision: _decision,
    records.DecisionResult: _result,
    records.Feedback: _feedback,
    records.GpuSample: _sample,
    records.NodeFinding: _finding,
    records.Quota: _quota,
    records.KnownFormat: _format,
}
