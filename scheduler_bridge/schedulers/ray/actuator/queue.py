"""Waiting and running jobs of Ray."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ...queue import WHOLE, Capacity, Need, Queue, RunningJob, Share, WaitingJob
from ...views import SchedulerJobState
from ..client.objects import SUPERVISOR_PREFIX, RayActor, RayPlacementGroup, RayTask
from .jobs import Attempt, view
from .nodes import Nodes, node_view

_MB = 1 << 20
_Resources = Mapping[str, float]


def queue_of(
    attempts: Mapping[str, Attempt],
    nodes: Nodes,
    actors: Iterable[RayActor],
    tasks: Iterable[RayTask],
    groups: Iterable[RayPlacementGroup],
) -> Queue:
    """Return the queue.

    A job waits while its entrypoint waits for resources. One whose driver runs, and whose actors wait, runs. Ray does not report which
    GPU of a node is whose: whole ones are dealt out in turn, parts share one while they fit, as Ray deals them out.
    """
    actors = list(actors)
    supervisors = {(actor.name or "").removeprefix(SUPERVISOR_PREFIX): actor for actor in actors if _lives(actor)}
    lineage_of = {attempt.job.job_id: lineage for lineage, attempt in attempts.items() if attempt.job.job_id}
    held: dict[str, dict[str, list[_Resources]]] = defaultdict(lambda: defaultdict(list))
    for owner, node, resources in _holdings(actors, tasks, groups):
        lineage = lineage_of.get(owner)
        if lineage and (name := nodes.name(node)):
            held[lineage][name].append(resources)
    waiting, running = [], []
    free: dict[str, dict[int, float]] = {
        node.node_name: dict.fromkeys(range(int(node.resources_total.get("GPU", 0))), 1.0) for node in nodes.newest
    }
    for lineage, attempt in sorted(attempts.items()):
        since = attempt.job.start_time / 1000 if attempt.job.start_time else math.inf
        supervisor = supervisors.get(attempt.job.id)
        needs = (supervisor.required_resources if supervisor else None) or {}
        if attempt.state is SchedulerJobState.PENDING:
            need = Need(cpus=needs.get("CPU", 0.0), memory=needs.get("memory", 0.0) / _MB, gpus=needs.get("GPU", 0.0))
            waiting.append(WaitingJob(view(attempt), since, need, blocked=bool(needs)))
        elif attempt.state is SchedulerJobState.RUNNING:
            if needs and supervisor and (name := nodes.name(supervisor.node_id)):
                held[lineage][name].append(needs)
            shares = {name: _share(parts, free.get(name, {})) for name, parts in held[lineage].items()}
            running.append(RunningJob(view(attempt, shares), since, shares))
    return Queue(
        tuple(waiting),
        tuple(running),
        tuple(
            Capacity(
                node_view(node),
                node.resources_total.get("CPU", 0.0),
                node.resources_total.get("memory", 0.0) / _MB,
                int(node.resources_total.get("GPU", 0)),
            )
            for node in nodes.newest
        ),
    )


def _lives(actor: RayActor) -> bool:
    return (actor.name or "").startswith(SUPERVISOR_PREFIX) and actor.state != "DEAD"


def _holdings(
    actors: Iterable[RayActor], tasks: Iterable[RayTask], groups: Iterable[RayPlacementGroup]
) -> Iterator[tuple[str, str | None, _Resources]]:
    """Yield the driver, the node and the amount of what is held: placement groups, and what lives in none."""
    for group in groups:
        if group.state in ("CREATED", "RESCHEDULING"):
            for bundle in group.bundles or ():
                yield group.creator_job_id, bundle.node_id, bundle.unit_resources
    for actor in actors:
        if actor.state == "ALIVE" and not actor.placement_group_id:
            yield actor.job_id, actor.node_id, actor.required_resources or {}
    for task in tasks:
        if not task.placement_group_id:
            yield task.job_id, task.node_id, task.required_resources or {}


def _share(parts: list[_Resources], free: dict[int, float]) -> Share:
    """Return the sum of what a job holds on a node, and take its GPUs from those that are free."""
    gpus: dict[int, float] = defaultdict(float)
    for amount in sorted((part.get("GPU", 0.0) for part in parts), reverse=True):
        left = amount
        while left > 1 - WHOLE:
            wanted = min(1.0, left)
            index = next((number for number, room in sorted(free.items()) if room >= wanted - (1 - WHOLE)), None)
            if index is None:
                break
            free[index] -= wanted
            gpus[index] += wanted
            left -= wanted
    cpus = sum(part.get("CPU", 0.0) for part in parts)
    return Share(cpus, sum(part.get("memory", 0.0) for part in parts) / _MB, dict(gpus))
