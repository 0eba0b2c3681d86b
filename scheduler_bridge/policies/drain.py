"""A faulty node that its own evidence confirms → no more jobs there (SchedMate §3.3: confirm the fault, isolate the node)."""

from collections.abc import Collection

from records import Action, Component, Decision, ErrorType, Failure, JobReference, decision_id
from scheduler_bridge.settings import NODE_EVIDENCE_S, BridgeSettings
from scheduler_bridge.verdicts import cause_of

from .restart import MESSAGE

POLICY = "drain-on-confirmed-fault"

HARDWARE = frozenset({Component.GPU, Component.NVLINK, Component.NODE})
"""Components that stay faulty where they are. A network link has two ends, and a switch that starts again would take all its nodes."""

CERTAIN = 0.9
"""Least confidence, whatever the operator set for restarts: a drain costs jobs that were never ill."""


def decide(failure: Failure, settings: BridgeSettings, users_against: Collection[str]) -> Decision | None:
    """Return the drain of the node that a verdict blames, else None.

    What a job prints never suffices. Either the node's own log or its GPUs agree, or jobs of so many other users failed there within the
    hour that a last one is missing at most; the guardrails count them again.

    Args:
        failure: The verdict.
        settings: What the operator allows.
        users_against: Users whose jobs were restarted away from that node within the hour.
    """
    if failure.error_type is not ErrorType.INFRASTRUCTURE or failure.faulty_component not in HARDWARE:
        return None
    if not failure.node or not failure.confidence >= max(CERTAIN, settings.min_confidence):
        return None
    if not failure.node_evidence and len(users_against) < settings.users_against_node - 1:
        return None
    cause = cause_of(failure)
    told_by = "its own evidence confirms it" if failure.node_evidence else "jobs of several users failed there"
    return Decision(
        id=decision_id(
            Action.DRAIN, failure.node, failure.attempt, f"{cause}@{JobReference(failure.job, failure.incarnation)}"
        ),
        action=Action.DRAIN,
        job=failure.job,
        node=failure.node,
        attempt=failure.attempt,
        incarnation=failure.incarnation,
        time=failure.time,
        expires=failure.time + min(NODE_EVIDENCE_S, settings.ttl_seconds),
        mode=settings.mode(Action.DRAIN),
        policy=POLICY,
        reason=(
            f"{failure.node} is faulty ({failure.faulty_component}): {failure.message[:MESSAGE].rstrip('. ')}; {told_by}. "
            "Start no more jobs there."
        ),
        cause=cause,
        cause_id=failure.id,
        node_evidence=failure.node_evidence,
        evidence=failure.evidence or ([failure.root] if failure.root else []),
    )
