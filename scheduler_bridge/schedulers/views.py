"""The state of a job or a node in its scheduler at one moment."""

from dataclasses import dataclass
from enum import StrEnum


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
    """Anything else (suspended, for example). Nothing is done about such a job."""


@dataclass(frozen=True, slots=True)
class JobView:
    """The state of a job in its scheduler at one moment.

    Attributes:
        job: Its id.
        state: Its state.
        attempt: How often it was started before.
        nodes: Where it runs, or ran last; empty while it waits.
        excluded: Nodes that it is kept away from.
        word: The scheduler's own word for the state, with its reason where there is one.
        alone: True where nothing can be packed with it any more.
        user: Who submitted it; empty where the scheduler does not report that.
        acts: Keys of what the bridge did to it, as the scheduler keeps them, the oldest first.
        partition: The partition, or queue; several, separated by commas, while it waits.
        account: Whose budget it draws on; empty where the scheduler does not report that.
        qos: Its quality of service, or priority class; empty for none.
        priority: The scheduler's number, the larger the sooner; None where there is none.
        limit_s: The scheduler ends it after so many seconds of running; None for no limit, or where not known.
        interrupted: It is held because an act of the bridge was cut off between stopping it and letting it go.
        queued: Since when it is in the queue, or was last put there, in seconds since 1970; None where not known.
        opted_out: Its user wants it not to be restarted.
        successor: The id of the job that was submitted in its place, and that the rest is about; empty where it is the job itself.
        dependents: Jobs that waited for its success and now wait for this attempt's.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where the scheduler does not show it.
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
    incarnation: str = ""

    def summary(self) -> dict[str, str]:
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
    """The state of a node in its scheduler at one moment.

    Attributes:
        node: Its name.
        state: Its state.
        pools: The groups of nodes (partitions) that it belongs to.
        booted: When it booted, in seconds since 1970; None where not known.
        reason: Why it is drained or down, as its author wrote it.
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

    def summary(self) -> dict[str, str]:
        """Return the view as `DecisionResult.seen` holds it."""
        return {"state": self.word or self.state.value, "reason": self.reason}
