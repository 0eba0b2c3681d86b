"""What the bridge may ask of a scheduler, and nothing more."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from records import Action, UserError


class SchedulerJobState(StrEnum):
    """The state of a job, in the few words that the bridge needs."""

    PENDING = "pending"
    """In the queue, free to start."""
    HELD = "held"
    """In the queue, and someone must release it."""
    RUNNING = "running"
    STOPPING = "stopping"
    """No longer running, not yet at rest."""
    FAILED = "failed"
    """Stopped without having done its work: an exit code, a signal, a lost node, a time limit."""
    COMPLETED = "completed"
    """Stopped with exit code 0."""
    CANCELLED = "cancelled"
    """Stopped by a person."""
    OTHER = "other"
    """Anything else (suspended, say). Nothing is done about such a job."""


@dataclass(frozen=True, slots=True)
class JobView:
    """What the scheduler says of a job at one moment.

    Attributes:
        job: Its id.
        state: Its state.
        attempt: How often it was started before.
        nodes: Where it runs, or ran last; empty while it waits.
        excluded: Nodes that it is kept away from.
        word: The scheduler's own word for the state, with its reason where there is one.
        alone: True where nothing can be packed beside it any more.
        user: Who submitted it; empty where the scheduler does not say.
    """

    job: str
    state: SchedulerJobState
    attempt: int = 0
    nodes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    word: str = ""
    alone: bool = False
    user: str = ""

    def seen(self) -> dict[str, str]:
        """Return the view as `DecisionResult.seen` holds it."""
        return {
            "state": self.word or self.state.value,
            "attempt": str(self.attempt),
            "nodes": ",".join(self.nodes),
            "excluded": ",".join(self.excluded),
            "alone": "yes" if self.alone else "no",
        }


class ActuatorError(UserError):
    """The scheduler refused, or does not show the effect; the text says what was expected, what came, and what to do."""

    def __init__(self, expected: str, came: str, remedy: str) -> None:
        super().__init__(f"expected {expected}; came: {came}; {remedy}")
        self.expected = expected
        self.came = came
        self.remedy = remedy


class SchedulerAway(ActuatorError):
    """The scheduler cannot be asked just now, so nothing is known."""


class Actuator(Protocol):
    """One scheduler.

    Every action is carried out and then verified by asking the scheduler again. It returns what was seen, and raises
    `ActuatorError` where the scheduler refused or does not show the effect, `SchedulerAway` where it cannot be asked.
    No call blocks for ever: each has time limits of its own.
    """

    name: str

    def supports(self, action: Action) -> bool:
        """Can this scheduler do it?"""

    def job(self, job: str) -> JobView | None:
        """Return what the scheduler says of a job; None where it does not know the job (any more)."""

    def restart(self, job: str, exclude_nodes: tuple[str, ...]) -> JobView:
        """Put a stopped job back in the queue, away from some nodes."""

    def cancel_packing(self, job: str) -> JobView:
        """Stop a running job that was packed beside another, and put it back in the queue, never to be packed again."""

    def evict(self, job: str) -> JobView:
        """Stop a running job and put it back in the queue."""
