"""An infrastructure failure that a restart would cure → start the job again, away from the suspect node (SchedMate §3.3)."""

from schedmate_records import Action, Component, Decision, ErrorType, Failure, FailureSource, JobReference, decision_id

from ..settings import BridgeSettings
from ..verdicts import cause_of

POLICY = "restart-on-infrastructure-failure"

LOCAL = frozenset({Component.GPU, Component.NVLINK, Component.NODE, Component.NETWORK})
"""Components that belong to one node. A shared file system is as ill on every other node: nothing is excluded then."""

MESSAGE = 1000
"""Maximum number of characters of a job's line that a decision repeats. The verdict has the whole line."""


def decide(failure: Failure, settings: BridgeSettings, checkpoint: str = "") -> Decision | None:
    """Return a restart for a verdict that is sure enough of an infrastructure fault, else None.

    The id follows from the root line, its signature and the suspect: revisions that keep to them make the same decision.

    Where only the job's log blames its node, the node is excluded all the same: `exclude_nodes` concerns the next attempts of
    this job, whose user may avoid any node anyway. The node is not blamed for other jobs.

    No node is excluded because of a language model: neither where it decided the cause, nor where the rules alone are not confident.

    `checkpoint` is where the job saved last, as it printed it; the scheduler passes it to the job when it starts again.
    """
    if failure.error_type is not ErrorType.INFRASTRUCTURE or failure.restartable is not True:
        return None
    if not failure.confidence >= settings.min_confidence:  # so written, a NaN decides nothing
        return None
    by_rules = failure.confidence_of_rules >= settings.min_confidence and failure.source is not FailureSource.MODEL
    suspect = failure.node if failure.faulty_component in LOCAL and by_rules else ""
    evidence = bool(suspect) and failure.node_evidence
    away = f", away from {suspect}" if suspect else ""
    witness = (
        f" Only this job's log blames {suspect}; nothing on the node confirms it." if suspect and not evidence else ""
    )
    message = failure.message[:MESSAGE].rstrip(". ")
    cause = cause_of(failure)
    root = failure.root
    place = f"{root.topic}/{root.partition}/{root.offset}/{root.line}" if root else "no-line"
    about = JobReference(failure.job, failure.incarnation)
    return Decision(
        id=decision_id(Action.RESTART, about, failure.attempt, f"{cause}@{place}" + f"~{suspect}" * bool(suspect)),
        action=Action.RESTART,
        job=failure.job,
        attempt=failure.attempt,
        incarnation=failure.incarnation,
        time=failure.time,
        expires=failure.time + settings.ttl_seconds,
        mode=settings.mode(Action.RESTART),
        policy=POLICY,
        reason=f"Infrastructure failure ({failure.faulty_component}): {message}. Start it again{away}.{witness}",
        cause=cause,
        cause_id=failure.id,
        exclude_nodes=[suspect] if suspect else [],
        node_evidence=evidence,
        checkpoint=checkpoint,
        evidence=failure.evidence or ([root] if root else []),
    )
