"""Drains a node whose own evidence confirms that it is faulty (SchedMate §3.3: confirm the fault, isolate the node)."""

from collections.abc import Collection

from schedmate_records import Action, Component, Decision, ErrorType, Failure, JobReference, RecoveryAction, decision_id

from ..settings import NODE_EVIDENCE_S, BridgeSettings
from ..verdicts import cause_of
from .restart import MESSAGE

POLICY = "drain-on-confirmed-fault"


ASKS_FOR_IT = frozenset(
    {
        RecoveryAction.GPU_RESET,
        RecoveryAction.NODE_REBOOT,
        RecoveryAction.DRAIN_AND_RESET,
        RecoveryAction.BUS_RESET,
        RecoveryAction.SYSTEM_REBOOT,
    }
)
"""Recovery actions before which a GPU should get no new work (NVIDIA, GPU Memory Error Management, recovery action flag)."""


def decide(failure: Failure, settings: BridgeSettings, users_against: Collection[str]) -> Decision | None:
    """Return the drain of the node that a verdict blames, else None.

    What a job prints never suffices. Either the node's own log or its GPUs show a fatal event of the list of those that may lead to a
    drain, or jobs of other users failed there within the hour, one fewer than needed at least; the guardrails count them again. A GPU that
    its driver calls usable again is no reason.

    Args:
        failure: The verdict.
        settings: What the operator allows.
        users_against: Users whose jobs were restarted away from that node within the hour.
    """
    # These stay faulty where they are. A network link has two ends, and a restarting switch would take all its nodes.
    is_local = failure.faulty_component in (Component.GPU, Component.NVLINK, Component.NODE)
    if failure.error_type is not ErrorType.INFRASTRUCTURE or not is_local:
        return None
    # 0.9 is required whatever the operator set for restarts: a drain costs jobs that never failed.
    if not failure.node or not failure.confidence >= max(0.9, settings.min_confidence):
        return None
    confirmed = failure.node_evidence and (failure.drain is not False or failure.recovery_action in ASKS_FOR_IT)
    if failure.recovery_action is RecoveryAction.NONE:
        confirmed = False
    if not confirmed and len(users_against) < settings.users_against_node - 1:
        return None
    cause = cause_of(failure)
    reported_by = "its own evidence confirms it" if confirmed else "jobs of several users failed there"
    if confirmed and failure.recovery_action is not None:
        reported_by += f", and its driver asks for {failure.recovery_action.replace('_', ' ')}"
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
            f"{failure.node} is faulty ({failure.faulty_component}): {failure.message[:MESSAGE].rstrip('. ')}; {reported_by}. "
            "Start no more jobs there."
        ),
        cause=cause,
        cause_id=failure.id,
        node_evidence=confirmed,
        evidence=failure.evidence or ([failure.root] if failure.root else []),
    )
