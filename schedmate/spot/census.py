"""Held and requested GPUs by class and organisation, from one query of the scheduler."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from schedmate_records.bounds import NAME
from scheduler_bridge.schedulers import JobView, Queue, RunningJob, SchedulerNodeState, WaitingJob
from scheduler_bridge.selectors import matches_any
from scheduler_bridge.settings import BridgeSettings


@dataclass(frozen=True)
class Census:
    """One look. GPUs are counted with parts.

    Attributes:
        capacity: GPUs of the nodes that are up.
        idle: Those that no job holds.
        in_use: GPUs that high-priority jobs hold, by organisation.
        waiting: GPUs that high-priority jobs wait for, by organisation.
        spot_running: Spot jobs that hold GPUs.
        spot_waiting: Spot jobs that wait for GPUs, the longest wait first.
        nameless: High-priority jobs of no organisation, by id.
    """

    capacity: float
    idle: float
    in_use: Mapping[str, float]
    waiting: Mapping[str, float]
    spot_running: tuple[RunningJob, ...]
    spot_waiting: tuple[WaitingJob, ...]
    nameless: tuple[str, ...]

    @property
    def spot_gpus(self) -> float:
        """GPUs that spot jobs hold."""
        return sum(job.gpus for job in self.spot_running)

    def demand(self) -> dict[str, float]:
        """Return the GPUs that high-priority jobs have or wait for, by organisation."""
        names = self.in_use.keys() | self.waiting.keys()
        return {name: self.in_use.get(name, 0.0) + self.waiting.get(name, 0.0) for name in names}


def take_census(queue: Queue, organisation: str, classes: BridgeSettings, now: float) -> Census:
    """Count.

    Args:
        queue: What the scheduler shows.
        organisation: The field of a job that names its organisation.
        classes: Spot jobs are those of `evictable` that are not of `evict_for`.
        now: Seconds since 1970. What may not start yet wants nothing yet.
    """
    up = {node.view.node: node for node in queue.nodes if node.view.state is SchedulerNodeState.UP}
    used: dict[str, float] = defaultdict(float)
    in_use: dict[str, float] = defaultdict(float)
    waiting: dict[str, float] = defaultdict(float)
    spot_running, spot_waiting, nameless = [], [], []
    for job in queue.running:
        for node, share in job.held.items():
            used[node] += sum(share.gpus.values())
        if not job.gpus:
            continue
        if is_spot(job.view, classes):
            spot_running.append(job)
        elif name := _name(job.view, organisation):
            in_use[name] += job.gpus
        else:
            nameless.append(job.view.job)
    for each in queue.waiting:
        if not gpus_wanted(each) or each.since > now:
            continue
        if is_spot(each.view, classes):
            spot_waiting.append(each)
        elif name := _name(each.view, organisation):
            waiting[name] += gpus_wanted(each)
        else:
            nameless.append(each.view.job)
    return Census(
        capacity=sum(node.gpus for node in up.values()),
        idle=sum(max(0.0, node.gpus - used[name]) for name, node in up.items()),
        in_use=in_use,
        waiting=waiting,
        spot_running=tuple(spot_running),
        spot_waiting=tuple(sorted(spot_waiting, key=lambda job: (job.since, job.view.job))),
        nameless=tuple(nameless),
    )


def is_spot(job: JobView, classes: BridgeSettings) -> bool:
    """Return whether a job is a spot job: one that may be evicted, and for which no job is evicted."""
    return matches_any(classes.evictable, job) and not matches_any(classes.evict_for, job)


def gpus_wanted(job: WaitingJob) -> float:
    """Return the GPUs that a job in the queue asks for, on all its nodes."""
    return job.need.gpus * job.need.nodes


def _name(job: JobView, organisation: str) -> str:
    name: str = getattr(job, organisation)
    return name if len(name) <= NAME and name.isprintable() else ""
