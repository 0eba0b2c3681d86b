"""Topic `decision-results`: what became of each decision."""

from enum import StrEnum

from .base import Record
from .decision import Action


class Outcome(StrEnum):
    """What became of a decision. All are final but `deferred`, `stopped`, `awaiting_approval` and `started`."""

    DEFERRED = "deferred"
    """Not yet: an hourly limit is reached. It is looked at again until it expires. Written once."""
    STOPPED = "stopped"
    """Not yet: a person has stopped all actions. It is looked at again until it expires. Written once."""
    AWAITING_APPROVAL = "awaiting_approval"
    """Not yet: a person must approve it before it expires. Written once."""

    STARTED = "started"
    """About to be carried out. Written before anything is done, so that a crash in between is seen."""
    DONE = "done"
    """Carried out, and the scheduler, asked again, shows the effect."""
    SHADOWED = "shadowed"
    """Not carried out: its action is in shadow mode."""
    REFUSED = "refused"
    """Not carried out: a guardrail or the state of the job forbids it."""
    EXPIRED = "expired"
    """Not carried out: too late."""
    FAILED = "failed"
    """Tried; the scheduler refused, or does not show the effect."""
    UNVERIFIED = "unverified"
    """A crash came between `started` and the result, or the scheduler could not be asked: nothing more is done."""

    @property
    def final(self) -> bool:
        """True where nothing more will be done about the decision."""
        return self not in {Outcome.DEFERRED, Outcome.STOPPED, Outcome.AWAITING_APPROVAL, Outcome.STARTED}


class DecisionResult(Record, frozen=True, kw_only=True):
    """One step in the life of a decision. Key: the job or node that the decision is about.

    Attributes:
        id: Decision id and outcome.
        decision_id: The decision.
        action: Its action.
        job: Its job; empty for an action on a node that no job led to.
        attempt: Its attempt.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        cause: Its cause, for budgets.
        node: The node that was acted on; for actions on a job, the node that the action was held against, where there is one and its
            own evidence confirms the fault.
        user: Whose hourly share it counts against, as the scheduler calls the user; empty where it was not asked or does not know.
        time: When it was written, in seconds since 1970.
        outcome: What became of it.
        detail: Why, in one sentence.
        seen: What the scheduler showed afterwards (`state`, `nodes`, …).
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
