"""Topic `decisions`: what the scheduler should do."""

from enum import StrEnum

from .base import Evidence, Record


class Action(StrEnum):
    """What can be asked of a scheduler."""

    RESTART = "restart"
    CANCEL_PACKING = "cancel_packing"
    EVICT = "evict"


class Mode(StrEnum):
    """`shadow`: published for people and other schedulers to see, never carried out by the bridge. `act`: to be carried out."""

    SHADOW = "shadow"
    ACT = "act"


class Decision(Record, frozen=True, kw_only=True):
    """What should be done, why, on which evidence, until when. Key: the job to act on.

    Attributes:
        id: Follows from action, job, attempt and cause: the same cause never makes two decisions.
        action: What to do.
        job: The job to act on (for `cancel_packing`: the one that came later and goes back to the queue).
        attempt: The attempt that the decision is about; a job that has moved on is left alone.
        time: When the cause arose, in seconds since 1970.
        expires: Not to be carried out after this time.
        mode: Shadow or act.
        policy: Name of the rule that decided.
        reason: One sentence for a person.
        cause: What counts as one root cause for budgets (a signature's name; the victim of a packing).
        cause_id: Id of the failure or slowdown that led here.
        exclude_nodes: Nodes to keep away from (`restart`).
        beneficiary: The job that gains (`cancel_packing`: the victim).
        evidence: The lines that it rests on.
    """

    id: str
    action: Action
    job: str
    attempt: int = 0
    time: float
    expires: float
    mode: Mode = Mode.SHADOW
    policy: str
    reason: str
    cause: str = ""
    cause_id: str = ""
    exclude_nodes: list[str] = []
    beneficiary: str = ""
    evidence: list[Evidence] = []
