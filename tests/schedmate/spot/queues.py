"""Queues of spot jobs and high-priority jobs."""

from scheduler_bridge.schedulers import (
    Capacity,
    JobView,
    Need,
    NodeView,
    Queue,
    RunningJob,
    SchedulerJobState,
    SchedulerNodeState,
    Share,
    WaitingJob,
)
from scheduler_bridge.selectors import Selector
from scheduler_bridge.settings import BridgeSettings

NOW = 1_800_000_000.0
CLASSES = BridgeSettings(evictable=(Selector.parse("partition=spot"),), evict_for=(Selector.parse("partition=prod"),))


def node(name: str, gpus: int = 8, state: SchedulerNodeState = SchedulerNodeState.UP) -> Capacity:
    return Capacity(NodeView(name, state), gpus=gpus)


def _view(job: str, state: SchedulerJobState, partition: str, account: str) -> JobView:
    return JobView(job, state, partition=partition, account=account)


def runs(
    job: str,
    node: str,
    gpus: float,
    *,
    spot: bool = False,
    account: str = "lab",
    since: float = NOW - 60,
    first: int = 0,
) -> RunningJob:
    """A job that holds GPUs of a node, from the GPU `first` on."""
    held = {first + index: min(1.0, gpus - index) for index in range(int(gpus + 0.999))}
    view = _view(job, SchedulerJobState.RUNNING, "spot" if spot else "prod", account)
    return RunningJob(view, since, {node: Share(gpus=held)})


def waits(
    job: str, gpus: float, *, nodes: int = 1, spot: bool = False, account: str = "lab", since: float = NOW - 60
) -> WaitingJob:
    view = _view(job, SchedulerJobState.PENDING, "spot" if spot else "prod", account)
    return WaitingJob(view, since, Need(nodes=nodes, gpus=gpus), blocked=False)


def queue(*jobs: RunningJob | WaitingJob, nodes: tuple[Capacity, ...] = (node("n1"), node("n2"))) -> Queue:
    return Queue(
        waiting=tuple(job for job in jobs if isinstance(job, WaitingJob)),
        running=tuple(job for job in jobs if isinstance(job, RunningJob)),
        nodes=nodes,
    )
