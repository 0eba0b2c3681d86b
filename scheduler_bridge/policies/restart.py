"""An infrastructure failure that a restart would cure → start the job again, away from the suspect node (SchedMate §3.3)."""

from records import Action, Component, Decision, ErrorType, Failure, Mode, decision_id
from scheduler_bridge.settings import BridgeSettings

POLICY = "restart-on-infrastructure-failure"

LOCAL = frozenset({Component.GPU, Component.NVLINK, Component.NODE, Component.NETWORK})
"""Components that belong to one node. A shared file system is as ill on every other node: nothing is excluded then."""


def decide(failure: Failure, settings: BridgeSettings) -> Decision | None:
    """Return a restart for a verdict that is sure enough of an infrastructure fault, else None.

    The id follows from the root line and its signature: revisions that keep to the same root make the same decision.
    """
    if failure.error_type is not ErrorType.INFRASTRUCTURE or failure.restartable is not True:
        return None
    if not failure.confidence >= settings.min_confidence:  # so written, a NaN decides nothing
        return None
    suspect = failure.node if failure.faulty_component in LOCAL else ""
    away = f", away from {suspect}" if suspect else ""
    message = failure.message.rstrip(". ")
    cause = failure.signature or failure.faulty_component.value
    root = failure.root
    place = f"{root.topic}/{root.partition}/{root.offset}/{root.line}" if root else "no-line"
    return Decision(
        id=decision_id(Action.RESTART, failure.job, failure.attempt, f"{cause}@{place}"),
        action=Action.RESTART,
        job=failure.job,
        attempt=failure.attempt,
        time=failure.time,
        expires=failure.time + settings.ttl,
        mode=Mode.ACT if Action.RESTART in settings.enabled else Mode.SHADOW,
        policy=POLICY,
        reason=f"Infrastructure failure ({failure.faulty_component}): {message}. Start it again{away}.",
        cause=cause,
        cause_id=failure.id,
        exclude_nodes=[suspect] if suspect else [],
        evidence=failure.evidence or ([root] if root else []),
    )
