"""What the bridge may ask of a scheduler, and nothing more."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn, Protocol

from records import Action, UserError
from scheduler_bridge.node_check import NodeCheck

if TYPE_CHECKING:
    from .queue import Queue


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
        partition: The partition, or queue; several, separated by commas, while it waits.
        account: Whose budget it draws on; empty where the scheduler does not say.
        qos: Its quality of service, or priority class; empty for none.
        priority: The scheduler's number, the larger the sooner; None where there is none.
        limit_s: The scheduler ends it after so many seconds of running; None for no limit, or where not known.
        interrupted: It is held because an act of the bridge was cut off between stopping it and letting it go.
        queued: Since when it is in the queue, or was last put there, in seconds since 1970; None where not known.
        opted_out: Its user wants it not to be restarted.
        successor: The id of the job that was submitted in its place, and that the rest is about; empty where it is the job itself.
        dependents: Jobs that waited for its success and now wait for this attempt's.
        lacks_places: Parts of it have no place to run, though others may run already (Kubernetes places each pod by itself).
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
    partition: str = ""
    account: str = ""
    qos: str = ""
    priority: int | None = None
    limit_s: float | None = None
    interrupted: bool = False
    queued: float | None = None
    opted_out: bool = False
    successor: str = ""
    dependents: tuple[str, ...] = ()
    lacks_places: bool = False

    def seen(self) -> dict[str, str]:
        """Return the view as `DecisionResult.seen` holds it."""
        always = {
            "state": self.word or self.state.value,
            "attempt": str(self.attempt),
            "nodes": ",".join(self.nodes),
            "excluded": ",".join(self.excluded),
            "alone": "yes" if self.alone else "no",
        }
        where_there_are = {"successor": self.successor, "dependents": ",".join(self.dependents)}
        return always | {name: text for name, text in where_there_are.items() if text}


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
    or node. A call that is made again after one was cut off, with the same key, goes on where that one stopped.

    What a subclass does not implement is refused, and knows no job and no node.
    """

    name: str

    def supports(self, action: Action) -> bool:
        """Can this scheduler do it? The bridge never asks for what it cannot."""
        return False

    def can_signal(self) -> bool:
        """Can a running job be sent a signal? Else one that is evicted gets no more time than the scheduler gives to what it stops."""
        return False

    def job(self, job: str) -> JobView | None:
        """Return what the scheduler says of a job; None where it does not know the job (any more)."""
        return None

    def nodes(self, beside: str = "", /) -> list[NodeView]:
        """Return what the scheduler says of all its nodes; where it is several clusters, of those beside the node of that name."""
        return []

    def queue(self) -> "Queue":
        """Return all jobs that wait or run, and all nodes. Asked only where the operator lets jobs be evicted for others."""
        from .queue import Queue  # noqa: PLC0415  # it is made of the views above

        return Queue()

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Put a stopped job back in the queue, away from some nodes, and let it know the checkpoint from which it may go on.

        `checkpoint` is a path in the job's own words: it may be told to that job, and is never part of a command.
        """
        _refuse(self, Action.RESTART, job)

    def cancel_packing(self, job: str, key: str) -> JobView:
        """Stop a running job that was packed beside another, and put it back in the queue, never to be packed again."""
        _refuse(self, Action.CANCEL_PACKING, job)

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        """Stop a running job and put it back in the queue, for `delay` seconds at least: another one shall have its place."""
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
        """Return a node to service that `drain` drained. Where a check is configured, the node must pass it first."""
        _refuse(self, Action.UNDRAIN, node)

    def check(self, node: str) -> NodeCheck | None:
        """Run the operator's check on a node; None where none is configured. Raises nothing: what cannot be checked is not known."""
        return None

    def stacks(self, job: str) -> str:
        """Return what the operator's command prints of a running job's processes; empty where none is configured. Raises nothing."""
        return ""

    def describe(self, node: str) -> str:
        """Return what the scheduler shows of a node and its jobs, for people."""
        return ""


def _refuse(actuator: Actuator, action: Action, target: str) -> NoReturn:
    raise ActuatorError(f"a scheduler that can {action}", f"{actuator.name}, for {target}", "nothing was done")
