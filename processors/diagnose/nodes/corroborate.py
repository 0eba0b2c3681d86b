"""Weighs a verdict on a job against the findings of its nodes.

The result names the evidence that confirms or contradicts the verdict (`confirmed_by`, `contradicted_by`), or its `source` is that
evidence, which alone makes the verdict. Plain errors of the job go before evidence of the node: a `KeyError` stays one if a disk failed at
the same time; only the confidence falls. A finding that was reported to several jobs may be about another one: it neither replaces nor
contradicts what the job's own lines show. Only fatal findings make a verdict. Warnings do not confirm one: heat slows clocks every day.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from schedmate_records import (
    Component,
    ErrorType,
    Failure,
    FailureSource,
    NodeFinding,
    RecoveryAction,
    Severity,
    identified,
)

from ..candidates import MESSAGE
from ..catalogue import Signature
from ..kinds import AFTER, BEFORE, Kind

BEFORE_S = 600.0
"""Maximum time from a cause on the node to the failure, in seconds: a collective's time limit is ten minutes by default."""
AFTER_S = 60.0
"""Maximum time from the failure to its cause, in seconds: kernel messages arrive late, and clocks differ."""
CERTAIN = 0.9
"""Confidence from which a verdict is not taken for a consequence of a finding."""
EVIDENCE = 8
"""Maximum number of lines that a verdict cites."""
CONFIRMING = 3
"""Maximum number of findings that raise the confidence of a verdict."""
MAX_CONFIDENCE = 0.99
"""Maximum confidence of a confirmed verdict: nothing is proved."""
DOUBTED = 0.8
"""Factor of the confidence of a contradicted verdict."""

_CONSEQUENCES = frozenset({
    Kind.COLLECTIVE, Kind.PEER, Kind.SIGNAL, Kind.LAUNCHER, Kind.VAGUE, Kind.EXIT, Kind.CHILD, Kind.STARVED, Kind.HINT,
    Kind.KILL, Kind.ABORT, Kind.NATIVE, Kind.CANCEL,
})  # fmt: skip
"""Kinds that follow from a fault of a node and do not name it."""
_GPU_WORDS = ("CUDA", "cuda", "NCCL", "cuDNN", "CUDNN", "CUBLAS", "NVML")
_WORDS = {
    Component.GPU: _GPU_WORDS,
    Component.NVLINK: _GPU_WORDS,
    Component.NETWORK: ("NCCL",),
    Component.STORAGE: ("Input/output", "Bus error"),
    Component.NODE: ("Input/output", "Bus error"),
}
"""Words of an error that point to what is faulty."""


def corroborate(
    failure: Failure, findings: Iterable[NodeFinding], signatures: Mapping[str, Signature]
) -> Failure | None:
    """Return `failure` as its nodes' findings change it, one revision later; None if they change nothing.

    The result does not depend on the order of `findings`.

    Args:
        failure: The verdict that the job's own lines make.
        findings: The findings that were reported to this attempt.
        signatures: The catalogue by name: the kind of the verdict's signature.
    """
    if failure.error_type is ErrorType.NONE:
        return None
    near = sorted(
        (one for one in findings if failure.time - BEFORE_S <= one.time <= failure.time + AFTER_S),
        key=lambda one: (-one.confidence, one.time, one.id),
    )
    serious = {Severity.FATAL, Severity.ERROR}
    found = [one for one in near if one.error_type is ErrorType.INFRASTRUCTURE and one.severity in serious]
    found = [one for one in found if not _follows_from_program(one, near)]
    if not found:
        return _unsupported(failure, [one for one in near if one.severity is Severity.INFO])
    kind = _kind(failure, signatures)
    infrastructure = failure.error_type is ErrorType.INFRASTRUCTURE
    same = [one for one in found if infrastructure and failure.faulty_component is one.component]
    # What follows from the verdict neither supports another one nor contradicts it.
    best = next((one for one in found if one.kind not in AFTER.get(kind, ())), None)
    fatal = best is not None and best.severity is Severity.FATAL
    if best and fatal and best not in same and _explains(best, failure, kind):
        return _replaced(failure, best, found, near)
    if same:
        return _confirmed(failure, same, near)
    plain = failure.confidence >= CERTAIN and failure.error_type is not ErrorType.USER_SCRIPT
    return _doubted(failure, best) if best and fatal and not _is_shared(best) and not plain else None


def _follows_from_program(one: NodeFinding, near: Sequence[NodeFinding]) -> bool:
    """Return whether a GPU stopped because of what a program did on it: the driver reported that right before."""
    return one.kind == Kind.STALL and any(
        other.kind == Kind.FAULT
        and (other.node, other.gpu, other.device) == (one.node, one.gpu, one.device)
        and one.time - AFTER_S <= other.time <= one.time
        for other in near
    )


def _kind(failure: Failure, signatures: Mapping[str, Signature]) -> str:
    """Return the kind of what a verdict rests on."""
    if known := signatures.get(failure.signature):
        return known.kind
    if failure.source is FailureSource.EXIT:
        return Kind.KILL if failure.signal else Kind.HINT
    return Kind.EXCEPTION


def _explains(best: NodeFinding, failure: Failure, kind: str) -> bool:
    """Return whether the verdict, of `kind`, follows from `best`: by its kind, or because its own words point to hardware."""
    if failure.error_type is ErrorType.UNKNOWN:
        return True
    if failure.source is FailureSource.EXIT and failure.confidence >= CERTAIN:  # the scheduler states the reason
        return False
    follows = kind in AFTER.get(best.kind, frozenset()) | BEFORE.get(best.kind, frozenset())
    if kind in _CONSEQUENCES:
        return follows and not (_is_shared(best) and kind in {Kind.CANCEL, Kind.SIGNAL})
    words = failure.message + (failure.root.text if failure.root else "")
    pointed = any(one in words for one in _WORDS.get(best.component, ()))
    return failure.confidence < CERTAIN and follows and pointed and not _is_shared(best)


def _is_shared(one: NodeFinding) -> bool:
    """Return whether a finding was reported to several jobs, so that it may be about another one."""
    return len(one.jobs) > 1


def _confirmed(failure: Failure, same: Sequence[NodeFinding], near: Sequence[NodeFinding]) -> Failure:
    doubt = 1 - failure.confidence
    for one in same[:CONFIRMING]:
        doubt *= 1 - one.confidence
    node = _faulty_node(failure, same)
    there = [one for one in same if one.node == node]
    return _next_revision(
        failure,
        same,
        confirmed_by=_sources(same),
        node=node,
        node_evidence=bool(there),
        drain=_may_drain(there) if there else None,
        recovery_action=_recovery_action(there, near),
        confidence=max(failure.confidence, min(MAX_CONFIDENCE, round(1 - doubt, 3))),
    )


def _faulty_node(failure: Failure, same: Sequence[NodeFinding]) -> str:
    """Return the node that a confirmed verdict blames: the one that printed the line may be healthy."""
    if failure.node in {one.node for one in same} or failure.confidence >= CERTAIN:
        return failure.node or same[0].node
    return same[0].node if same[0].severity is Severity.FATAL or not failure.node else failure.node


def _may_drain(found: Sequence[NodeFinding]) -> bool:
    """Return whether a fatal event that may lead to a drain is among `found`."""
    return any(one.drain and one.severity is Severity.FATAL for one in found)


def _recovery_action(found: Sequence[NodeFinding], near: Sequence[NodeFinding]) -> RecoveryAction | None:
    """Return the newest action that the driver states for the GPUs of `found`; for several GPUs that of the first in `found`."""
    for one in found:
        stated = [other for other in near if other.recovery_action is not None and _is_same_gpu(one, other)]
        if stated:
            return max(stated, key=lambda other: (other.time, other.id)).recovery_action
    return None


def _is_same_gpu(one: NodeFinding, other: NodeFinding) -> bool:
    """Return whether two findings are of one GPU. A log names GPUs by their address, NVML by their index."""
    same = (one.device and one.device == other.device) or (one.gpu is not None and one.gpu == other.gpu)
    return one.node == other.node and bool(same)


def _replaced(
    failure: Failure, best: NodeFinding, found: Sequence[NodeFinding], near: Sequence[NodeFinding]
) -> Failure:
    changed = _next_revision(
        failure,
        found,
        source=_source(best),
        signature=best.signature,
        node=best.node,
        node_evidence=True,
        drain=_may_drain([one for one in found if one.node == best.node and one.component is best.component]),
        recovery_action=_recovery_action([best], near),
        root=best.place,
        rank=None if best.node != failure.node else failure.rank,
        message=best.place.text[:MESSAGE],
        error_type=best.error_type,
        faulty_component=best.component,
        restartable=best.restartable,
        confidence=best.confidence,
    )
    others = [one for one in changed.evidence if one != best.place]
    return identified(msgspec.structs.replace(changed, evidence=[best.place, *others][:EVIDENCE]))


def _doubted(failure: Failure, best: NodeFinding) -> Failure:
    confidence = round(failure.confidence * DOUBTED, 3)
    return _next_revision(failure, [best], contradicted_by=_sources([best]), confidence=confidence)


def _unsupported(failure: Failure, healthy: Sequence[NodeFinding]) -> Failure | None:
    """Lower the confidence of a verdict on a GPU that was sampled all the time and showed nothing."""
    gpu = failure.faulty_component in {Component.GPU, Component.NVLINK}
    watched = [one for one in healthy if one.node == failure.node and (one.since or one.time) <= failure.time - AFTER_S]
    return _doubted(failure, watched[0]) if gpu and watched and failure.confidence < CERTAIN else None


def _sources(found: Iterable[NodeFinding]) -> list[FailureSource]:
    return sorted({_source(one) for one in found})


def _source(one: NodeFinding) -> FailureSource:
    return FailureSource.GPU_METRICS if one.place.topic == FailureSource.GPU_METRICS else FailureSource.NODE_LOGS


def _next_revision(failure: Failure, found: Sequence[NodeFinding], **changes: object) -> Failure:
    """Return `failure` with `changes` and the lines of `found`, at the next revision."""
    places = [*failure.evidence, *(one.place for one in found)][:EVIDENCE]
    return identified(msgspec.structs.replace(failure, revision=failure.revision + 1, evidence=places, **changes))
