"""Topic `decision-results`: results of decisions."""

from enum import StrEnum

from .base import Record
from .decision import Action


class Outcome(StrEnum):
    """Outcome of a decision. All but `deferred`, `stopped`, `awaiting_approval` and `started` are final."""

    DEFERRED = "deferred"
    """Delayed: an hourly limit is reached. The decision is examined again until it expires. Written once."""
    STOPPED = "stopped"
    """Delayed: an operator has stopped all actions. The decision is examined again until it expires. Written once."""
    AWAITING_APPROVAL = "awaiting_approval"
    """Delayed: an operator must approve it before it expires. Written once."""

    STARTED = "started"
    """The action begins. Written before it is carried out, so that a crash during the action is detected."""
    DONE = "done"
    """Carried out, and the scheduler shows the effect."""
    SHADOWED = "shadowed"
    """Not carried out: its action is in shadow mode."""
    REFUSED = "refused"
    """Not carried out: a guardrail or the state of the job forbids it."""
    EXPIRED = "expired"
    """Not carried out: the decision expired."""
    FAILED = "failed"
    """The scheduler refused it, or does not show the effect."""
    UNVERIFIED = "unverified"
    """A crash occurred between `started` and the result, or the scheduler was unreachable. Nothing more is done."""

    @property
    def final(self) -> bool:
        """Whether the outcome is final."""
        return self not in {Outcome.DEFERRED, Outcome.STOPPED, Outcome.AWAITING_APPROVAL, Outcome.STARTED}


class DecisionResult(Record, frozen=True, kw_only=True):
    """One step of a decision. Key: the job or node that the decision is about.

    Attributes:
        id: Decision id and outcome.
        decision_id: Id of the decision.
        action: Its action.
        job: Its job; empty for an action on a node that no job caused.
        attempt: Its attempt.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        cause: Its cause, for budgets.
        node: Node of the action; for actions on a job, the suspect node if its own evidence confirms the fault.
        user: User whose hourly share it counts against, by the scheduler's name; empty where not known.
        time: When it was written, in seconds since 1970.
        outcome: Outcome.
        detail: Reason, in one sentence.
        seen: State at the scheduler afterwards (`state`, `nodes`, …).
        actuator: `slurm`, `local`, ….
    """

    id: str
    decision_id: str
    action: Action
    job: str = ""
    attempt: int = 0
    incarnation: str = ""
    cause: str = ""
    node: str = ""
    user: str = ""
    time: float
    outcome: Outcome
    detail: str = ""
    seen: dict[str, str] = {}
    actuator: str = ""

    @property
    def target(self) -> str:
        """Target of the action: the node or the job."""
        return self.node if self.action.on_node else self.job
