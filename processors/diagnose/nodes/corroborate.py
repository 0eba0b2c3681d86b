"""A verdict on a job, weighed against what its nodes said at that time.

`source` of the outcome says which: `signature+node-logs` (confirmed by the node's log), `traceback-gpu-metrics` (the GPUs' samples speak
against it), `node-logs` (the node's log alone makes the verdict). Evidence from the node is never worth more than the job's own words where
these are plain: a `KeyError` stays one, though a disk failed beside it; only the confidence falls.
"""

from collections.abc import Mapping, Sequence

import msgspec

from processors.diagnose import kinds
from processors.diagnose.catalogue import Signature
from records import Component, ErrorType, Evidence, Failure, Position, derived_id

from .evidence import NodeEvidence
from .finding import Finding

BEFORE_S = 600.0
"""A cause on the node comes at most so long before the failure shows: a collective's time limit is ten minutes by default."""
AFTER_S = 60.0
"""Kernel messages arrive late, and clocks differ."""
STRONG = 0.85
"""Confidence from which a finding alone makes a verdict, and from which it speaks against another."""
CERTAIN = 0.9
"""Confidence from which a verdict is not taken for a consequence of what the node said."""
EVIDENCE = 8
TOP = 0.99

_CONSEQUENCES = frozenset({
    kinds.COLLECTIVE, kinds.PEER, kinds.LAUNCHER, kinds.CHILD, kinds.HINT, kinds.KILL, kinds.ABORT, kinds.NATIVE, kinds.CANCEL,
})  # fmt: skip
"""Kinds that follow from a node's trouble without saying so."""
_DEVICE_WORDS = ("CUDA", "cuda", "NCCL", "cuDNN", "CUDNN", "CUBLAS", "NVML", "Input/output", "Bus error")


def corroborate(
    failure: Failure, nodes: Sequence[str], evidence: NodeEvidence, signatures: Mapping[str, Signature]
) -> Failure | None:
    """Return `failure` at the next revision where its nodes have something to say of it; None where they have not.

    Args:
        failure: The verdict in force.
        nodes: Hosts of the job; the one that `failure` names need not be among them.
        evidence: What the nodes said.
        signatures: The catalogue by name: the kind of the verdict's signature.
    """
    if failure.error_type is ErrorType.NONE:
        return None
    where = dict.fromkeys([failure.node, *nodes] if failure.node else nodes)
    found = evidence.between(where, failure.time - BEFORE_S, failure.time + AFTER_S, failure.job)
    found = [one for one in found if one.error_type is ErrorType.INFRASTRUCTURE]
    cited = {_key(one) for one in failure.evidence}
    new = [one for one in found if _key(one.place) not in cited]
    if not new:
        return None if found else _unsupported(failure, evidence)
    same = [one for one in new if _agree(failure, one)]
    return _confirmed(failure, same) if same else _weighed(failure, new, signatures)


def _weighed(failure: Failure, found: Sequence[Finding], signatures: Mapping[str, Signature]) -> Failure | None:
    """Return what becomes of a verdict that says otherwise than `found`."""
    best = max(found, key=lambda one: (one.confidence, -one.time))
    if best.confidence < STRONG:
        return None
    if _explained(failure, best, signatures):
        return _replaced(failure, best, found)
    if failure.confidence < CERTAIN or failure.error_type is ErrorType.USER_SCRIPT:
        return _doubted(failure, best)
    return None


def _agree(failure: Failure, one: Finding) -> bool:
    return failure.error_type is ErrorType.INFRASTRUCTURE and failure.faulty_component is one.component


def _explained(failure: Failure, best: Finding, signatures: Mapping[str, Signature]) -> bool:
    """Return whether the verdict names what follows from `best`: by its kind, or because its own words point to hardware."""
    if failure.error_type is ErrorType.UNKNOWN:
        return True
    known = signatures.get(failure.signature)
    if known is not None:
        kind = known.kind
    elif failure.source == "exit":
        kind = kinds.KILL if failure.signal else kinds.HINT
        if failure.confidence >= CERTAIN:  # the scheduler says why
            return False
    else:
        kind = kinds.EXCEPTION
    if kind in _CONSEQUENCES:
        return kind in kinds.AFTER[best.kind]
    words = failure.message + (failure.root.text if failure.root else "")
    return (
        failure.confidence < CERTAIN and kind in kinds.AFTER[best.kind] and any(one in words for one in _DEVICE_WORDS)
    )


def _confirmed(failure: Failure, same: Sequence[Finding]) -> Failure:
    doubt = 1 - failure.confidence
    for one in same[:3]:
        doubt *= 1 - one.confidence
    return _next(
        failure,
        same[0],
        source=f"{failure.source}+{same[0].place.topic}",
        node=failure.node or same[0].node,
        confidence=min(TOP, round(1 - doubt, 3)),
        evidence=_cited(failure, same),
    )


def _replaced(failure: Failure, best: Finding, found: Sequence[Finding]) -> Failure:
    others = sorted(found, key=lambda one: one is not best)
    lines = [one.place for one in others]
    return _next(
        failure,
        best,
        source=best.place.topic,
        signature=best.cause,
        node=best.node,
        root=best.place,
        rank=None if best.node != failure.node else failure.rank,
        message=best.place.text[:300],
        error_type=best.error_type,
        faulty_component=best.component,
        restartable=best.restartable,
        confidence=best.confidence,
        evidence=[lines[0], *failure.evidence, *lines[1:]][:EVIDENCE],
    )


def _doubted(failure: Failure, best: Finding) -> Failure:
    return _next(
        failure,
        best,
        source=f"{failure.source}-{best.place.topic}",
        confidence=round(failure.confidence * 0.8, 3),
        evidence=_cited(failure, [best]),
    )


def _unsupported(failure: Failure, evidence: NodeEvidence) -> Failure | None:
    """Lower the confidence of a verdict on a GPU whose samples were there all the time and show nothing."""
    watched = evidence.gpus_watched(failure.node, failure.time - AFTER_S, failure.time + AFTER_S / 2)
    gpu = failure.faulty_component in {Component.GPU, Component.NVLINK}
    if not gpu or not watched or failure.confidence >= CERTAIN or "-gpu-metrics" in failure.source:
        return None
    return msgspec.structs.replace(
        failure,
        id=f"{failure.id}/gpu-metrics",
        revision=failure.revision + 1,
        source=f"{failure.source}-gpu-metrics",
        confidence=round(failure.confidence * 0.8, 3),
    )


def _cited(failure: Failure, found: Sequence[Finding]) -> list[Evidence]:
    return [*failure.evidence, *(one.place for one in found)][:EVIDENCE]


def _key(one: Evidence) -> tuple[str, int, int, int]:
    return one.topic, one.partition, one.offset, one.line


def _next(failure: Failure, one: Finding, **changes: object) -> Failure:
    """Return `failure` with `changes`, at the next revision, under an id that follows from it and from the finding."""
    position = Position(one.place.topic, one.place.partition, one.place.offset)
    made = derived_id("failure", failure.job, position, one.place.line)
    return msgspec.structs.replace(
        failure, id=f"{made}/{failure.revision + 1}", revision=failure.revision + 1, **changes
    )
