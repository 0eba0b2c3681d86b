"""Kubernetes' jobs as the bridge sees a queue: who waits for a place, and who holds one."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ...queue import Capacity, Need, Queue, RunningJob, Share, WaitingJob
from ...views import JobView, SchedulerJobState
from ..client.attempts import present_attempt
from ..client.lineage import job_id
from ..client.objects import Node, Pod
from ..client.placement import admits, is_tied_to_pods
from ..client.resources import cpus, gpus, memory, requested
from ..client.workloads.batch_job import Job
from ..client.workloads.kind import WorkloadObject
from ..client.workloads.kueue import QueuedWorkload
from .jobs import lacks_a_place, outlives_eviction, present
from .lookup import Target
from .nodes import node_view
from .owners import ruler_of


def queue_of(
    jobs: Iterable[WorkloadObject],
    pods: Iterable[Pod],
    nodes: Sequence[Node],
    pool_labels: Sequence[str],
    queued: Iterable[QueuedWorkload] = (),
) -> Queue:
    """Return the queue, of all jobs, pods, nodes, and places in Kueue's queues."""
    targets, names = _targets(jobs, queued)
    on: dict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        owner = pod.metadata.controller
        if name := names.get(owner.uid, "") if owner else "":
            targets[name].pods.append(pod)
        if pod.spec.node_name and not pod.is_over:
            on[pod.spec.node_name].append(pod)
    capacities = {node.metadata.name: _capacity(node, on[node.metadata.name], names, pool_labels) for node in nodes}
    indices = _Indices(capacities)
    running = [
        _running(target, held, indices)
        for target in targets.values()
        if (held := [pod for pod in target.pods if pod.spec.node_name and not pod.is_over])
    ]
    lowest = min((job.view.priority or 0 for job in running), default=0)
    waiting = [
        _waiting(target.view(), left, nodes, capacities, lowest)
        for target in targets.values()
        if target.state is SchedulerJobState.PENDING
        and (left := [pod for pod in present(target.pods) if not pod.spec.node_name])
    ]
    return Queue(tuple(waiting), tuple(running), tuple(capacities.values()))


def _targets(
    jobs: Iterable[WorkloadObject], queued: Iterable[QueuedWorkload]
) -> tuple[dict[str, Target], dict[str, str]]:
    """Return the newest attempt of each job by its id, without pods; and the ids by the uids that pods name as their controllers."""
    places = {by.uid: one for one in queued if (by := one.metadata.controller)}
    every = sorted(jobs, key=present_attempt)
    known = {job.metadata.uid: job_id(job.metadata, job.WORD) for job in every if not isinstance(job, Job)}
    targets, names = {}, {}
    for job in every:
        owner = job.metadata.controller
        if owner and owner.uid in known:  # a Job of a JobSet: its pods are the JobSet's
            names[job.metadata.uid] = known[owner.uid]
            continue
        name = job_id(job.metadata, job.WORD)
        targets[name] = Target(name, job, [], places.get(job.metadata.uid))
        names[job.metadata.uid] = name
    newest = {target.owner.metadata.uid for target in targets.values()} | {
        job.metadata.uid for job in every if (owner := job.metadata.controller) and owner.uid in known
    }
    return targets, {uid: name for uid, name in names.items() if uid in newest}


class _Indices:
    """Deals out the GPUs of each node: Kubernetes does not report which of them a pod holds, and gives only whole ones."""

    def __init__(self, capacities: Mapping[str, Capacity]) -> None:
        self._free = {name: list(range(node.gpus)) for name, node in capacities.items()}

    def assign(self, node: str, number: int) -> dict[int, float]:
        free = self._free.get(node, [])
        return {free.pop(): 1.0 for _ in range(min(number, len(free)))}


def _capacity(node: Node, pods: Sequence[Pod], names: Mapping[str, str], pool_labels: Sequence[str]) -> Capacity:
    """Return what a node has for Jobs: what it can allocate, without what pods of no Job hold."""
    others = [pod for pod in pods if pod.metadata.controller is None or pod.metadata.controller.uid not in names]
    held = [requested(pod.spec) for pod in others]
    has = node.status.allocatable
    return Capacity(
        node_view(node, pods, pool_labels),
        cpus(has) - sum(each[0] for each in held),
        memory(has) - sum(each[1] for each in held),
        max(0, gpus(has) - sum(each[2] for each in held)),
    )


def _running(target: Target, pods: Sequence[Pod], indices: _Indices) -> RunningJob:
    seen = target.view()
    held: dict[str, Share] = {}
    for pod in pods:
        took, before = requested(pod.spec), held.get(pod.spec.node_name, Share())
        dealt = indices.assign(pod.spec.node_name, took[2])
        held[pod.spec.node_name] = Share(before.cpus + took[0], before.memory + took[1], {**before.gpus, **dealt})
    leaving = len(present(pods)) < len(pods)
    if (
        leaving or seen.state is not SchedulerJobState.RUNNING
    ):  # it holds its place still, and is not to be evicted again
        seen = replace(seen, state=SchedulerJobState.STOPPING)
    since = max(_seconds(pod.status.start_time) for pod in pods)
    return RunningJob(seen, since, held, ruler_of(target.owner) is None and _comes_back(target, len(pods)))


def _comes_back(target: Target, pods: int) -> bool:
    """True where a job that is evicted is started again."""
    if not isinstance(target.owner, Job):
        return target.owner.may_resume
    return target.queued is not None or outlives_eviction(target.owner, pods)


def _waiting(
    seen: JobView, pods: Sequence[Pod], nodes: Sequence[Node], capacities: Mapping[str, Capacity], lowest: int
) -> WaitingJob:
    spec = pods[0].spec
    open_to = [node.metadata.name for node in nodes if admits(node, spec)]
    need = _need(pods, max((capacities[name].gpus for name in open_to), default=0))
    unschedulable = all(lacks_a_place(pod) for pod in pods)
    # Where the scheduler itself preempts, it has chosen already; two must not.
    preempts = spec.preemption_policy != "Never" and lowest < (seen.priority or 0)
    blocked = need is not None and unschedulable and not preempts and not is_tied_to_pods(spec)
    kept_away = {node.metadata.name for node in nodes} - set(open_to)
    return WaitingJob(
        replace(seen, excluded=tuple(sorted(kept_away))),
        min(_seconds(pod.metadata.creation_timestamp) for pod in pods),
        need or Need(),
        blocked,
    )


def _need(pods: Sequence[Pod], most: int) -> Need | None:
    """Return what alike pods ask for, as many on a node as it has GPUs for; None where they do not fill nodes evenly."""
    each = requested(pods[0].spec)
    if any(requested(pod.spec) != each for pod in pods):
        return None
    together = min(len(pods), max(1, most // each[2]) if each[2] else 1)
    if len(pods) % together:
        return None
    return Need(len(pods) // together, each[0] * together, each[1] * together, float(each[2] * together))


def _seconds(time: datetime | None) -> float:
    return time.timestamp() if time else math.inf
