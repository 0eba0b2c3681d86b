"""Which records lead to a message, and its text."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from schedmate_records import (
    Alarm,
    AlarmKind,
    Decision,
    DecisionResult,
    ErrorType,
    Evidence,
    Failure,
    JobEvent,
    Outcome,
    Record,
)

from ..job_state import StateWord, job_state
from .urgency import Urgency

TEXT = 20_000
"""Maximum length of the text of a message, in characters."""
NAMED = 8
"""Nodes that a message names."""


_OF_OUTCOME = {
    Outcome.AWAITING_APPROVAL: Urgency.WARNING,
    Outcome.DEFERRED: Urgency.WARNING,
    Outcome.STOPPED: Urgency.WARNING,
    Outcome.DONE: Urgency.INFO,
    Outcome.REFUSED: Urgency.INFO,
    Outcome.EXPIRED: Urgency.WARNING,
    Outcome.FAILED: Urgency.CRITICAL,
    Outcome.UNVERIFIED: Urgency.CRITICAL,
}
"""Outcomes without a message: a report shows shadows, and a beginning is followed by an end."""


class KnownJob(NamedTuple):
    """User, name and nodes of a job as schedulers reported them; empty where not known."""

    user: str = ""
    name: str = ""
    nodes: tuple[str, ...] = ()

    def title(self, job: str) -> str:
        """Return the id of the job, and its name."""
        return f"{job} ({self.name})" if self.name else job

    def lines(self) -> tuple[str, ...]:
        """Return a line with the user and the nodes; none where neither is known."""
        more = f" and {len(self.nodes) - NAMED} more" if len(self.nodes) > NAMED else ""
        nodes = f"on {', '.join(self.nodes[:NAMED])}{more}" if self.nodes else ""
        known = [part for part in (f"user {self.user}" if self.user else "", nodes) if part]
        return (", ".join(known),) if known else ()

    def labels(self) -> dict[str, str]:
        """Return the same for machines."""
        return {"name": self.name, "user": self.user, "nodes": ",".join(self.nodes[:NAMED])}


_UNKNOWN_JOB = KnownJob()


@dataclass(frozen=True)
class Notification:
    """One message.

    Attributes:
        key: What counts as the same message.
        severity: How urgent it is.
        title: What happened, in one line.
        lines: Why, who acted, and what to do.
        quotes: Lines of logs that it rests on: data, as somebody's job printed them.
        labels: The same for machines.
        record: What it is about.
    """

    key: str
    severity: Urgency
    title: str
    lines: tuple[str, ...]
    quotes: tuple[str, ...]
    labels: dict[str, str]
    record: Record
    job: str = field(default="")


def describe(
    record: Record, decision: Decision | None = None, end: JobEvent | None = None, job: KnownJob = _UNKNOWN_JOB
) -> Notification | None:
    """Return the message about a record; None where it is not worth one.

    Args:
        record: A result, a verdict or an alarm.
        decision: Of a result, what was decided; None where that is not known.
        end: Of a verdict, the end of its attempt; None where that is not known.
        job: The job that it is about.
    """
    # A user is notified twice of GPUs that are idle without a break.
    match record:
        case DecisionResult():
            return _result(record, decision, job)
        case Failure() if record.final and record.error_type is not ErrorType.NONE:
            return _verdict(record, end, job)
        case Alarm() if record.raised and (notice := _notice(record)) <= 2:
            return Notification(
                key=f"alarm/{record.job}/{record.attempt}/{record.kind}" + (f"/{notice}" if notice > 1 else ""),
                severity=Urgency.WARNING,
                title=f"Job {job.title(record.job)}: {record.kind.replace('_', ' ')}",
                lines=(record.detail, *job.lines()),
                quotes=_quotes(record.evidence),
                labels={"kind": "alarm", "alarm": record.kind, "job": record.job, "node": record.node, **job.labels()},
                record=record,
                job=record.job,
            )
    return None


def _notice(alarm: Alarm) -> int:
    """Return which notice of idle GPUs an alarm is: they are repeated whenever they have lasted twice as long. 1 for other alarms."""
    if alarm.kind is not AlarmKind.GPUS_IDLE or not alarm.limit or alarm.value is None:
        return 1
    return 1 if alarm.value < 2 * alarm.limit else 2 if alarm.value < 4 * alarm.limit else 3


def _result(result: DecisionResult, decision: Decision | None, job: KnownJob) -> Notification | None:
    severity = _OF_OUTCOME.get(result.outcome)
    if severity is None:
        return None
    target = result.node if result.action.on_node else f"job {job.title(result.job)}"
    lines = [decision.reason] if decision else []
    lines += [result.detail] if result.detail else []
    lines += job.lines()
    if result.outcome is Outcome.AWAITING_APPROVAL:
        lines.append(f"schedmate decisions approve {shlex.quote(result.decision_id)} --reason …")
    lines.append(f"decision {result.decision_id}" + (f", policy {decision.policy}" if decision else ""))
    return Notification(
        key=f"result/{result.decision_id}/{result.outcome}",
        severity=severity,
        title=f"{result.action.replace('_', ' ')} {target}: {result.outcome.replace('_', ' ')}",
        lines=tuple(lines),
        quotes=_quotes(decision.evidence if decision else ()),
        labels={
            "kind": "decision",
            "action": result.action,
            "outcome": result.outcome,
            "job": result.job,
            "node": result.node,
            "policy": decision.policy if decision else "",
            "actor": result.actuator,
            **job.labels(),
        },
        record=result,
        job=result.job,
    )


def _verdict(failure: Failure, end: JobEvent | None, job: KnownJob) -> Notification | None:
    known = end is not None and end.attempt == failure.attempt
    state = job_state(
        "ended",
        scheduler_state=end.state if end and known else "",
        exit_code=failure.exit_code,
        signal=failure.signal,
        cause=failure.signature or failure.error_type,
        now=failure.time,
    )
    if state.word is StateWord.CANCELLED:
        return None
    infrastructure = failure.error_type is ErrorType.INFRASTRUCTURE
    part = f" ({failure.faulty_component})" if infrastructure else ""
    return Notification(
        key=f"failure/{failure.job}/{failure.signature}",
        severity=Urgency.WARNING if infrastructure else Urgency.INFO,
        title=f"Job {job.title(failure.job)}: {state.sentence(failure.time)}",
        lines=(
            f"{failure.error_type.replace('_', ' ')}{part}",
            *([failure.summary] if failure.summary else []),
            failure.message,
            f"confidence {failure.confidence:.2f}, by {failure.source} {failure.signature}".rstrip(),
            *job.lines(),
        ),
        quotes=_quotes(failure.evidence),
        labels={
            "kind": "failure",
            "error_type": failure.error_type,
            "signature": failure.signature,
            "job": failure.job,
            "node": failure.node,
            **job.labels(),
        },
        record=failure,
        job=failure.job,
    )


def _quotes(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    return tuple(f"{each.topic}/{each.partition}@{each.offset} line {each.line}: {each.text}" for each in evidence[:3])


def header_text(text: str) -> str:
    """Return a text as one line of a header: printable ASCII, at most 200 characters."""
    return "".join(letter if letter.isprintable() and letter.isascii() else "?" for letter in text)[:200]
