"""Waiting and running jobs of a scheduler: the input of the choice of victims."""

from collections.abc import Mapping
from dataclasses import dataclass

from processors.eviction import WHOLE, Need, Share

from .views import JobView, NodeView

__all__ = ["WHOLE", "Capacity", "Need", "Queue", "RunningJob", "Share", "WaitingJob"]


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job in the queue.

    Attributes:
        view: The job.
        since: Since when it waits, in seconds since 1970.
        need: What it asks for.
        blocked: True where the scheduler reports that it lacks only a place: it is the next to start, and does not fit.
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
    """Resources of a node.

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
