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

_STATES = {
    EventKind.SUBMITTED: "submitted",
    EventKind.STARTED: "running",
    EventKind.REQUEUED: "requeued",
    EventKind.ENDED: "ended",
}
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
    return _as_texts(values)


def _as_texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in values.items()}


def _prefixed(prefix: str, record: Record, names: str) -> dict[str, str]:
    """Return the fields of a record that `names` lists, each under its name behind `prefix`."""
    return {f"{prefix}_{name}": _text(getattr(record, name)) for name in names.split()}


def _event(place: Position, event: records.JobEvent) -> list[SectionUpdate]:
    if event.kind in (EventKind.DESCRIBED, EventKind.RANK_STARTED, EventKind.RANK_ENDED):
        return []
    # What a pipe reports changes nothing once a scheduler has reported the job, whatever attempt or time the pipe names.
    # 10**19 is above every attempt.
    lifted = _position(event.attempt + 10**19 * (not event.by_producer), _micros(event.time), place.offset)
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
        fields |= dict.fromkeys(("exit_code", "signal", "scheduler_state", "ended"), "")
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
    fields = _prefixed("metric", metric, "attempt rank time confidence method")
    progress = ("step", "epoch", "step_time_s", "throughput", "throughput_unit", "loss", "loss_step")
    fields |= {name: _text(getattr(metric, name)) for name in progress}
    fields["loss_not_finite"] = _text(metric.loss_not_finite or None)
    rank = {name: getattr(metric, name) for name in ("attempt", "rank", "node", "time", "step", "step_time_s")}
    # The job shows its lowest rank: the further down, the later its position counts.
    # 10**9 is above every rank.
    lowest_first = max(10**9 - metric.rank, 0)
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
        fields = _as_texts({detail: alarm.detail, since: alarm.since, attempt: alarm.attempt, over: None})
    elif alarm.kind.describes_ended:
        fields = _as_texts({over: alarm.time})
    else:
        fields = dict.fromkeys((detail, since, attempt, over), "")
    return [SectionUpdate("job", alarm.job, f"alarm_{alarm.kind}_at", at, fields)]


def _checkpoint(place: Position, checkpoint: records.Checkpoint) -> list[SectionUpdate]:
    since, over = _micros(checkpoint.since), checkpoint.state is not CheckpointState.STARTED
    save = _fields(save=checkpoint.state, save_duration_s=checkpoint.usual_duration_s)
    save |= _prefixed("save", checkpoint, "attempt since time interval_s")
    newest = _position(checkpoint.attempt, checkpoint.number, over, place.offset)
    updates = [SectionUpdate("job", checkpoint.job, "save_at", newest, save, newest_only=True)]
    if checkpoint.state is CheckpointState.DURABLE:
        fields = _fields(checkpoint_by=checkpoint.durable_by)
        fields |= _prefixed("checkpoint", checkpoint, "attempt since time step path")
        at = _position(checkpoint.attempt, since, place.offset)
        updates.append(SectionUpdate("job", checkpoint.job, "checkpoint_at", at, fields, newest_only=True))
    return updates


def _failure(_: Position, failure: records.Failure) -> list[SectionUpdate]:
    root = failure.root
    fields = _fields(
        verdict=failure.error_type,
        verdict_component=failure.faulty_component,
        verdict_confirmed_by=_json(failure.confirmed_by).decode(),
        verdict_contradicted_by=_json(failure.contradicted_by).decode(),
        verdict_line=root and root.text,
        verdict_place=root and f"{root.topic}/{root.partition}/{root.offset}:{root.line}",
    )
    plain = "attempt revision time message signature source node restartable confidence final"
    fields |= _prefixed("verdict", failure, plain)
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
    fields = _fields(slowed_by=slowdown.packed_job) | _prefixed("slowdown", slowdown, "ratio time attempt")
    return [SectionUpdate("job", slowdown.job, "slowdown_at", at, fields, newest_only=True)]


def _estimate(place: Position, estimate: records.Estimate) -> list[SectionUpdate]:
    fields = _fields(estimate_low_s=estimate.duration_low_s, estimate_high_s=estimate.duration_high_s)
    plain = "attempt time duration_s remaining_s remaining_low_s remaining_high_s done method"
    fields |= _prefixed("estimate", estimate, plain)
    fields["estimate_modes"] = _json(estimate.modes).decode() if estimate.modes else ""
    at = _position(estimate.attempt, estimate.revision, _micros(estimate.time), place.offset)
    updates = [SectionUpdate("job", estimate.job, "estimate_at", at, fields, newest_only=True)]
    if estimate.gpu_utilisation is not None:  # estimates from progress do not have it, and do not remove it
        used = _fields(estimate_gpu_utilisation=estimate.gpu_utilisation)
        updates.append(SectionUpdate("job", estimate.job, "estimate_gpu_at", at, used, newest_only=True))
    return updates


def _decision(place: Position, decision: records.Decision) -> list[SectionUpdate]:
    if decision.action.on_node:
        return []
    fields = _fields(decision=decision.action) | _prefixed("decision", decision, "id time mode reason")
    at = _position(decision.attempt, _micros(decision.time), place.offset)
    return [SectionUpdate("job", decision.job, "decision_at", at, fields, newest_only=True)]


def _result(place: Position, result: records.DecisionResult) -> list[SectionUpdate]:
    if result.action.on_node:
        return []
    fields = _fields(outcome=result.outcome, outcome_of=result.decision_id)
    fields |= _prefixed("outcome", result, "time detail actuator")
    at = _position(result.attempt, _micros(result.time), result.outcome.final, place.offset)
    return [SectionUpdate("job", result.job, "outcome_at", at, fields, newest_only=True)]


def _feedback(place: Position, feedback: records.Feedback) -> list[SectionUpdate]:
    fields = _prefixed("feedback", feedback, "cause attempt user time line")
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
