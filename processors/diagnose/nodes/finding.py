"""One sign of trouble on a node, from a signature or from a sample, as the record that is told to jobs."""

import re

from processors.diagnose.catalogue import Signature
from records import Component, ErrorType, Evidence, NodeFinding, Position, Severity, derived_id

FATAL, ERROR = 0.85, 0.6
"""Confidence from which a finding is taken for what ends jobs, and for what may."""

_DEVICE = re.compile(r"\b(?:[0-9a-f]{4}|[0-9a-f]{8}):[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?\b", re.IGNORECASE)


def severity(confidence: float) -> Severity:
    """Return how bad a finding of such a confidence is."""
    if confidence >= FATAL:
        return Severity.FATAL
    return Severity.ERROR if confidence >= ERROR else Severity.WARNING


def of_signature(  # noqa: PLR0917  # a signature, where and when, whose
    one: Signature, node: str, time: float, place: Evidence, gpu: int | None, jobs: list[str]
) -> NodeFinding:
    """Return the finding that a line (or an Xid number) of signature `one` makes."""
    return finding(
        node,
        time,
        place,
        signature=one.name,
        kind=one.kind,
        error_type=one.error_type,
        component=one.component,
        restartable=one.restartable,
        confidence=one.confidence,
        gpu=gpu,
        jobs=jobs,
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
) -> NodeFinding:
    """Return a finding that is told to nobody yet."""
    device = _DEVICE.search(place.text)
    return NodeFinding(
        id=identity(node, place, signature),
        node=node,
        time=time,
        gpu=gpu,
        device=device[0].lower() if device else "",
        signature=signature,
        kind=kind,
        severity=severity(confidence),
        error_type=error_type,
        component=component,
        restartable=restartable,
        confidence=confidence,
        place=place,
        jobs=jobs,
    )


def identity(node: str, place: Evidence, signature: str) -> str:
    """Return the id of a finding that is told to nobody yet. One sample may make several: the signature tells them apart."""
    return (
        f"{derived_id('finding', node, Position(place.topic, place.partition, place.offset), place.line)}/{signature}"
    )
