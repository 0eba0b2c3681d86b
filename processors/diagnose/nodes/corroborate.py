"""A verdict on a job, weighed against what its nodes said at that time.

The outcome says which evidence confirms or contradicts the verdict (`confirmed_by`, `contradicted_by`), or its `source` is that evidence,
which alone makes the verdict. Evidence from the node is never worth more than the job's own words where these are plain: a `KeyError` stays
one, though a disk failed beside it; only the confidence falls. What the node said to several jobs may be about another one: it neither
takes the place of what the job says itself nor speaks against it. Only fatal findings make a verdict, and warnings do not even confirm one:
clocks are held back by heat every day.
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

from .. import kinds
from ..catalogue import Signature

BEFORE_S = 600.0
"""A cause on the node comes at most so long before the failure shows: a collective's time limit is ten minutes by default."""
AFTER_S = 60.0
"""Kernel messages arrive late, and clocks differ."""


CERTAIN = 0.9
"""Confidence from which a verdict is not taken for a consequence of what the node said."""
EVIDENCE = 8
"""Lines that a verdict cites."""
COUNTED = 3
"""Findings that raise the confidence of a verdict which they agree with."""
TOP = 0.99
DOUBTED = 0.8
"""What is left of the confidence of a verdict that evidence speaks against."""

_COUNT = (Severity.FATAL, Severity.ERROR)
_CONSEQUENCES = frozenset({
    kinds.COLLECTIVE, kinds.PEER, kinds.SIGNAL, kinds.LAUNCHER, kinds.VAGUE, kinds.EXIT, kinds.CHILD, kinds.STARVED, kinds.HINT,
    kinds.KILL, kinds.ABORT, kinds.NATIVE, kinds.CANCEL,
})  # fmt: skip
"""Kinds that follow from a node's trouble without saying so."""
_ENDED_FROM_OUTSIDE = frozenset({kinds.CANCEL, kinds.SIGNAL})
"""Of those, what says that somebody ended the job, and not its node."""
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
    """Return `failure` as its nodes' findings make it, one revision later; None where they have nothing to say of it.

    The outcome does not depend on the order of `findings`.

    Args:
        failure: The verdict that the job's own words make.
        findings: What was told to this attempt.
        signatures: The catalogue by name: the kind of the verdict's signature.
    """
    if failure.error_type is ErrorType.NONE:
        return None
    near = sorted(
        (one for one in findings if failure.time - BEFORE_S <= one.time <= failure.time + AFTER_S),
        key=lambda one: (-one.confidence, one.time, one.id),
    )
    found = [one for one in near if one.error_type is ErrorType.INFRASTRUCTURE and one.severity in _COUNT]
    found = [one for one in found if not _echoes(one, near)]
    if not found:
        return _unsupported(failure, [one for one in near if one.severity is Severity.INFO])
    kind = _kind(failure, signatures)
    same = [one for one in found if _agree(failure, one)]
    # What follows from the verdict speaks neither for another one nor against it.
    best = next((one for one in found if one.kind not in kinds.AFTER.get(kind, ())), None)
    if best and best not in same and best.severity is Severity.FATAL and _explained(failure, best, kind):
        return _replaced(failure, best, found, near)
    if same:
        return _confirmed(failure, same, near)
    if best is None or best.severity is not Severity.FATAL or _of_several(best):
        return None
    plain = failure.confidence >= CERTAIN and failure.error_type is not ErrorType.USER_SCRIPT
    return None if plain else _doubted(failure, best)


def _agree(failure: Failure, one: NodeFinding) -> bool:
    return failure.error_type is ErrorType.INFRASTRUCTURE and failure.faulty_component is one.component


def _echoes(one: NodeFinding, near: Sequence[NodeFinding]) -> bool:
    """Return whether a GPU stopped because of what a program did on it: the driver said so right before."""
    return one.kind == kinds.STALL and any(
        other.kind == kinds.FAULT
        and (other.node, other.gpu, other.device) == (one.node, one.gpu, one.device)
        and one.time - AFTER_S <= other.time <= one.time
        for other in near
    )


def _kind(failure: Failure, signatures: Mapping[str, Signature]) -> str:
    """Return the kind of what a verdict rests on."""
    if known := signatures.get(failure.signature):
        return known.kind
    if failure.source is FailureSource.EXIT:
        return kinds.KILL if failure.signal else kinds.HINT
    return kinds.EXCEPTION


def _explained(failure: Failure, best: NodeFinding, kind: str) -> bool:
    """Return whether the verdict, of `kind`, names what follows from `best`: by its kind, or because its own words point to hardware."""
    if failure.error_type is ErrorType.UNKNOWN:
        return True
    if failure.source is FailureSource.EXIT and failure.confidence >= CERTAIN:  # the scheduler says why
        return False
    follows = kinds.AFTER.get(best.kind, frozenset()) | kinds.BEFORE.get(best.kind, frozenset())
    if kind in _CONSEQUENCES:
        return kind in follows and not (_of_several(best) and kind in _ENDED_FROM_OUTSIDE)
    words = failure.message + (failure.root.text if failure.root else "")
    pointed = any(one in words for one in _WORDS.get(best.component, ()))
    return failure.confidence < CERTAIN and kind in follows and pointed and not _of_several(best)


def _of_several(one: NodeFinding) -> bool:
    """Return whether a finding was told to several jobs, so that it may be about another one."""
    return len(one.jobs) > 1


def _confirmed(failure: Failure, same: Sequence[NodeFinding], near: Sequence[NodeFinding]) -> Failure:
    doubt = 1 - failure.confidence
    for one in same[:COUNTED]:
        doubt *= 1 - one.confidence
    suspect = _suspect(failure, same)
    there = [one for one in same if one.node == suspect]
    return _next(
        failure,
        same,
        confirmed_by=_sources(same),
        node=suspect,
        node_evidence=bool(there),
        drain=_drains(there) if there else None,
        recovery_action=_recovery_action(there, near),
        confidence=max(failure.confidence, min(TOP, round(1 - doubt, 3))),
    )


def _suspect(failure: Failure, same: Sequence[NodeFinding]) -> str:
    """Return the node that a confirmed verdict blames: who printed the line need not be who is ill."""
    if failure.node in {one.node for one in same} or failure.confidence >= CERTAIN:
        return failure.node or same[0].node
    return same[0].node if same[0].severity is Severity.FATAL or not failure.node else failure.node


def _drains(found: Sequence[NodeFinding]) -> bool:
    """Return whether a fatal event on the list of those that may lead to a drain is among `found`."""
    return any(one.drain and one.severity is Severity.FATAL for one in found)


def _recovery_action(found: Sequence[NodeFinding], near: Sequence[NodeFinding]) -> RecoveryAction | None:
    """Return what the driver states last that the GPUs of `found` need; where it states that of several GPUs, of the first in `found`."""
    for one in found:
        stated = [other for other in near if other.recovery_action is not None and _same_gpu(one, other)]
        if stated:
            return max(stated, key=lambda other: (other.time, other.id)).recovery_action
    return None


def _same_gpu(one: NodeFinding, other: NodeFinding) -> bool:
    """Return whether two findings are of one GPU. A log names GPUs by their address, NVML by their index."""
    if one.node != other.node:
        return False
    return bool(one.device and one.device == other.device) or (one.gpu is not None and one.gpu == other.gpu)


def _replaced(
    failure: Failure, best: NodeFinding, found: Sequence[NodeFinding], near: Sequence[NodeFinding]
) -> Failure:
    changed = _next(
        failure,
        found,
        source=_source(best),
        signature=best.signature,
        node=best.node,
        node_evidence=True,
        drain=_drains([one for one in found if one.node == best.node and one.component is best.component]),
        recovery_action=_recovery_action([best], near),
        root=best.place,
        rank=None if best.node != failure.node else failure.rank,
        message=best.place.text[:300],
        error_type=best.error_type,
        faulty_component=best.component,
        restartable=best.restartable,
        confidence=best.confidence,
    )
    others = [one for one in changed.evidence if one != best.place]
    return identified(msgspec.structs.replace(changed, evidence=[best.place, *others][:EVIDENCE]))


def _doubted(failure: Failure, best: NodeFinding) -> Failure:
    return _next(
        failure,
        [best],
        contradicted_by=_sources([best]),
        confidence=round(failure.confidence * DOUBTED, 3),
    )


def _unsupported(failure: Failure, calm: Sequence[NodeFinding]) -> Failure | None:
    """Lower the confidence of a verdict on a GPU whose samples were there all the time and show nothing."""
    gpu = failure.faulty_component in {Component.GPU, Component.NVLINK}
    watched = [one for one in calm if one.node == failure.node and (one.since or one.time) <= failure.time - AFTER_S]
    if not gpu or not watched or failure.confidence >= CERTAIN:
        return None
    return _doubted(failure, watched[0])


def _sources(found: Iterable[NodeFinding]) -> list[FailureSource]:
    """Return where findings come from, each once."""
    return sorted({_source(one) for one in found})


def _source(one: NodeFinding) -> FailureSource:
    return FailureSource.GPU_METRICS if one.place.topic == FailureSource.GPU_METRICS else FailureSource.NODE_LOGS


def _next(failure: Failure, found: Sequence[NodeFinding], **changes: object) -> Failure:
    """Return `failure` with `changes` and the lines of `found`, at the next revision."""
    places = [*failure.evidence, *(one.place for one in found)][:EVIDENCE]
    return identified(msgspec.structs.replace(failure, revision=failure.revision + 1, evidence=places, **changes))
