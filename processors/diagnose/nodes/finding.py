"""One sign of trouble on a node, from a signature or from a sample, as the record that is reported to jobs."""

import re

import msgspec

from schedmate_records import Component, ErrorType, Evidence, NodeFinding, Position, Severity, derived_id

from ..catalogue import Signature
from ..drivers import read_event

_WORSE = {Severity.WARNING: (Severity.ERROR, 0.7), Severity.ERROR: (Severity.FATAL, 0.9)}
"""Severity of a finding that repeats above its rate, and the confidence in it."""
_DEVICE = re.compile(r"\b(?:[0-9a-f]{4}|[0-9a-f]{8}):[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?\b", re.IGNORECASE)


def severity(confidence: float) -> Severity:
    """Return the severity of a finding of a signature that states none: fatal if it surely ends jobs, error if it may."""
    if confidence >= 0.85:
        return Severity.FATAL
    return Severity.ERROR if confidence >= 0.6 else Severity.WARNING


def finding_from_signature(  # noqa: PLR0917  # a signature, a line, and where it is from
    one: Signature, line: str, node: str, time: float, place: Evidence, gpu: int | None = None, *, jobs: list[str]
) -> NodeFinding:
    """Return the finding that `line` makes, which has the signature `one`."""
    made = make_finding(
        node, time, place, one.name, one.kind, one.component, one.confidence,
        error_type=one.error_type, restartable=one.restartable, level=one.severity, drain=one.drain, gpu=gpu, jobs=jobs,
    )  # fmt: skip
    event = read_event(line) if one.driver_event else None
    if event is None:
        return made
    xid, meaning = event
    return msgspec.structs.replace(
        made,
        device=xid.device or made.device,
        event=xid.name,
        link=xid.link,
        recommended_action=meaning.action,
        recovery_action=xid.recovery_action,
        drain=meaning.drain,
    )


def make_finding(  # noqa: PLR0917  # where, what, and how sure
    node: str,
    time: float,
    place: Evidence,
    signature: str,
    kind: str,
    component: Component,
    confidence: float,
    *,
    error_type: ErrorType = ErrorType.INFRASTRUCTURE,
    restartable: bool | None = True,
    level: Severity | None = None,
    drain: bool = False,
    gpu: int | None,
    jobs: list[str],
) -> NodeFinding:
    """Return a finding that is not reported to any job yet. Its severity is `level`, or follows from the confidence."""
    device = _DEVICE.search(place.text)
    return NodeFinding(
        id=identity(node, place, signature),
        node=node,
        time=time,
        gpu=gpu,
        device=device[0].lower() if device else "",
        signature=signature,
        kind=kind,
        severity=level or severity(confidence),
        error_type=error_type,
        component=component,
        restartable=restartable,
        confidence=confidence,
        drain=drain,
        place=place,
        jobs=jobs,
    )


def worse(one: NodeFinding) -> NodeFinding:
    """Return `one` one level worse: it repeats above the rate of its signature."""
    if one.severity not in _WORSE:
        return one
    level, confidence = _WORSE[one.severity]
    return msgspec.structs.replace(one, id=f"{one.id}/{level}", severity=level, confidence=confidence)


def identity(node: str, place: Evidence, signature: str) -> str:
    """Return the id of a finding that is not reported to any job yet. One sample may make several, with other signatures."""
    position = Position(place.topic, place.partition, place.offset)
    return f"{derived_id('finding', node, position, place.line)}/{signature}"
