"""Queues to choose from."""

from collections.abc import Iterable

from scheduler_bridge.schedulers import (
    Capacity,
    JobView,
    Need,
    NodeView,
    RunningJob,
    SchedulerJobState,
    SchedulerNodeState,
    Share,
    WaitingJob,
)
from tests.scheduler_bridge.findings import NOW


def node(name: str, gpus: int = 4, state: SchedulerNodeState = SchedulerNodeState.UP) -> Capacity:
    return Capacity(NodeView(name, state), cpus=16, memory=1000, gpus=gpus)


def running(
    job: str, held: dict[str, Iterable[int]], *, age: float = 1000.0, part: float = 1.0, **labels: str
) -> RunningJob:
    """A job that holds those GPUs of those nodes since `age` seconds."""
    shares = {name: Share(cpus=1, gpus=dict.fromkeys(indices, part)) for name, indices in held.items()}
    view = JobView(job, SchedulerJobState.RUNNING, nodes=tuple(held), partition=labels.get("partition", "spot"))
    return RunningJob(view, NOW - age, shares)


def waiting(
    job: str = "high", *, gpus: float = 1.0, nodes: int = 1, age: float = 400.0, blocked: bool = True
) -> WaitingJob:
    view = JobView(job, SchedulerJobState.PENDING, partition="urgent", user="ada", priority=10)
    return WaitingJob(view, NOW - age, Need(nodes=nodes, gpus=gpus), blocked)
