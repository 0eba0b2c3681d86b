"""What waits and what runs, as a scheduler shows it at one moment: what the choice of whom to evict rests on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .base import JobView, NodeView

WHOLE = 1.0 - 1e-9
"""A GPU of which this much is free is free as a whole: parts of a GPU are fractions, and their sum is rounded."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a job asks for, or holds, on one node.

    Attributes:
        cpus: Number of CPUs.
        memory: In MB.
        gpus: Part of each GPU that it holds, by index, 0 to 1.
    """

    cpus: float = 0.0
    memory: float = 0.0
    gpus: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Need:
    """What a job that waits asks for.

    Attributes:
        nodes: Number of nodes.
        cpus: CPUs on each of them.
        memory: MB on each of them.
        gpus: GPUs on each of them; 1.5 is a whole one and half of another.
        required: Nodes that it asks for by name.
        exclusive: Nobody else may be on them.
    """

    nodes: int = 1
    cpus: float = 0.0
    memory: float = 0.0
    gpus: float = 0.0
    required: tuple[str, ...] = ()
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job in the queue.

    Attributes:
        view: The job.
        since: Since when it waits, in seconds since 1970.
        need: What it asks for.
        blocked: True where the scheduler says that nothing but a place is missing: it is the next to start, and does not fit.
    """

    view: JobView
    since: float
    need: Need
    blocked: bool


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that runs, or leaves its nodes.

    Attributes:
        view: The job.
        since: Since when it runs, in seconds since 1970.
        held: What it holds, by node.
        requeueable: Its user lets the scheduler start it again.
    """

    view: JobView
    since: float
    held: Mapping[str, Share]
    requeueable: bool = True

    @property
    def gpus(self) -> float:
        """GPUs that it holds, parts included."""
        return sum(sum(share.gpus.values()) for share in self.held.values())


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a node has.

    Attributes:
        view: The node.
        cpus: Number of CPUs.
        memory: In MB.
        gpus: Number of GPUs.
    """

    view: NodeView
    cpus: float = 0.0
    memory: float = 0.0
    gpus: int = 0


@dataclass(frozen=True, slots=True)
class Queue:
    """Jobs that wait, jobs that run, and all nodes, in one look."""

    waiting: tuple[WaitingJob, ...] = ()
    running: tuple[RunningJob, ...] = ()
    nodes: tuple[Capacity, ...] = ()
