"""One sign of trouble on a node, from a signature or from a sample, as the record that is reported to jobs."""

import re

import msgspec

from schedmate_records import Component, ErrorType, Evidence, NodeFinding, Position, Severity, derived_id

from ..catalogue import Signature
from ..drivers import read_event

FATAL, ERROR = 0.85, 0.6
"""Confidence from which a finding is taken for what ends jobs, and for what may."""

_WORSE = {Severity.WARNING: (Severity.ERROR, 0.7), Severity.ERROR: (Severity.FATAL, 0.9)}
"""What a finding becomes that repeats above its rate, and the confidence in that."""
_DEVICE = re.compile(r"\b(?:[0-9a-f]{4}|[0-9a-f]{8}):[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?\b", re.IGNORECASE)


def severity(confidence: float) -> Severity:
    """Return how bad a finding of such a confidence is."""
    if confidence >= FATAL:
        return Severity.FATAL
    return Severity.ERROR if confidence >= ERROR else Severity.WARNING


def of_signature(  # noqa: PLR0917  # a signature, the line, where and when, whose
    one: Signature, line: str, node: str, time: float, place: Evidence, gpu: int | None, jobs: list[str]
) -> NodeFinding:
    """Return the finding that `line` makes, which has the signature `one`."""
    made = finding(
        node,
        time,
        place,
        signature=one.name,
        kind=one.kind,
        error_type=one.error_type,
        component=one.component,
        restartable=one.restartable,
        confidence=one.confidence,
        level=one.severity,
        drain=one.drain,
        gpu=gpu,
        jobs=jobs,
    )
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


def finding(
    node: str,
    time: float,
    place: Evidence,
    *,
    signature: str,
    kind: str,
    component: Component,
    confidence: float,
    gpu: int | None,
    jobs: list[str],
    error_type: ErrorType = ErrorType.INFRASTRUCTURE,
    restartable: bool | None = True,
    level: Severity | None = None,
    drain: bool = False,
) -> NodeFinding:
    """Return a finding that is reported to nobody yet. Its severity is `level`, or follows from the confidence."""
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
    """Return the id of a finding that is reported to nobody yet. One sample may make several: the signature tells them apart."""
    return (
        f"{derived_id('finding', node, Position(place.topic, place.partition, place.offset), place.line)}/{signature}"
    )
