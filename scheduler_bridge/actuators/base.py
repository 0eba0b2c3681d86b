"""What the bridge may ask of a scheduler, and nothing more."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn, Protocol

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
        acts: Keys of what the bridge did to it, as the scheduler keeps them, the oldest first.
    """

    job: str
    state: SchedulerJobState
    attempt: int = 0
    nodes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    word: str = ""
    alone: bool = False
    user: str = ""
    acts: tuple[str, ...] = ()

    def seen(self) -> dict[str, str]:
        """Return the view as `DecisionResult.seen` holds it."""
        return {
            "state": self.word or self.state.value,
            "attempt": str(self.attempt),
            "nodes": ",".join(self.nodes),
            "excluded": ",".join(self.excluded),
            "alone": "yes" if self.alone else "no",
        }


class SchedulerNodeState(StrEnum):
    """The state of a node, in the few words that the bridge needs."""

    UP = "up"
    """It may start jobs, or runs some."""
    DRAINING = "draining"
    """It starts no more jobs, and some still run or complete there."""
    DRAINED = "drained"
    """It starts no more jobs, and none is there."""
    DOWN = "down"
    """It is out of service for another reason."""


@dataclass(frozen=True, slots=True)
class NodeView:
    """What the scheduler says of a node at one moment.

    Attributes:
        node: Its name.
        state: Its state.
        pools: The groups of nodes (partitions) that it belongs to.
        booted: When it booted, in seconds since 1970; None where not known.
        reason: Why it is drained or down, in the words of whoever did that.
        word: The scheduler's own word for the state.
        drained_by: The key of the bridge's own act that drained it; empty where it is not drained, or somebody else did that.
        acts: Keys of what the bridge did to it, as the scheduler keeps them, the oldest first.
    """

    node: str
    state: SchedulerNodeState
    pools: tuple[str, ...] = ()
    booted: float | None = None
    reason: str = ""
    word: str = ""
    drained_by: str = ""
    acts: tuple[str, ...] = ()

    def seen(self) -> dict[str, str]:
        """Return the view as `DecisionResult.seen` holds it."""
        return {"state": self.word or self.state.value, "reason": self.reason}


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

    Every action asks for what it needs first, is carried out, and is then verified by asking the scheduler again. It returns what was
    seen, and raises `ActuatorError` where the scheduler refuses or does not show the effect, `SchedulerAway` where it cannot be
    asked. No call blocks for ever: each has time limits of its own. `key` (see `act_keys`) is kept at the scheduler, beside the job
    or node.

    What a subclass does not implement is refused, and knows no job and no node.
    """

    name: str

    def supports(self, action: Action) -> bool:
        """Can this scheduler do it? The bridge never asks for what it cannot."""
        return False

    def job(self, job: str) -> JobView | None:
        """Return what the scheduler says of a job; None where it does not know the job (any more)."""
        return None

    def nodes(self) -> list[NodeView]:
        """Return what the scheduler says of all its nodes."""
        return []

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str) -> JobView:
        """Put a stopped job back in the queue, away from some nodes."""
        _refuse(self, Action.RESTART, job)

    def cancel_packing(self, job: str, key: str) -> JobView:
        """Stop a running job that was packed beside another, and put it back in the queue, never to be packed again."""
        _refuse(self, Action.CANCEL_PACKING, job)

    def evict(self, job: str, key: str) -> JobView:
        """Stop a running job and put it back in the queue."""
        _refuse(self, Action.EVICT, job)

    def signal(self, job: str, signal: str) -> None:
        """Send a signal (`USR1`) to the processes of a running job, so that it saves a checkpoint."""
        _refuse(self, Action.EVICT, job)

    def cancel(self, job: str, key: str) -> JobView:
        """End a running job for good."""
        _refuse(self, Action.CANCEL, job)

    def hold(self, job: str, key: str) -> JobView:
        """Keep a job that waits in the queue from starting."""
        _refuse(self, Action.HOLD, job)

    def release(self, job: str, key: str) -> JobView:
        """Let a job that `hold` held start."""
        _refuse(self, Action.RELEASE, job)

    def drain(self, node: str, reason: str, key: str) -> NodeView:
        """Start no more jobs on a node. What runs there goes on, so the node may be draining still when this returns."""
        _refuse(self, Action.DRAIN, node)

    def undrain(self, node: str, key: str) -> NodeView:
        """Return a node to service that `drain` drained."""
        _refuse(self, Action.UNDRAIN, node)


def _refuse(actuator: Actuator, action: Action, target: str) -> NoReturn:
    raise ActuatorError(f"a scheduler that can {action}", f"{actuator.name}, for {target}", "nothing was done")
