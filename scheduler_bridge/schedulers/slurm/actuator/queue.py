"""Slurm's queue as the bridge sees it: who waits for what, and who holds it."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from ...queue import Capacity, Need, Queue, RunningJob, Share, WaitingJob
from ...views import SchedulerJobState
from ..client import SlurmJob, SlurmNode
from ..client.gres import gpu_types, held_parts
from .jobs import node_view, state_of, view

_CLOSED = frozenset(
    {"RESERVED", "NOT_RESPONDING", "REBOOT_REQUESTED", "REBOOT_ISSUED", "POWER_DOWN", "INVAL", "INVALID_REG", "BLOCKED"}
)
"""Words of nodes in service on which no job starts, or none without a reservation: to make a place there has no use."""


def queue_of(jobs: Iterable[SlurmJob], nodes: Mapping[str, SlurmNode]) -> Queue:
    """Return the queue, of what Slurm lists."""
    whole = max((node.shards_per_gpu for node in nodes.values()), default=0)
    waiting: list[WaitingJob] = []
    running: list[RunningJob] = []
    arrays: list[SlurmJob] = []
    for job in jobs:
        state = state_of(job)
        if state is SchedulerJobState.PENDING and job.is_array:
            arrays.append(job)
        elif state is SchedulerJobState.PENDING:
            waiting.append(_waiting(job, nodes.values(), whole))
        elif job.nodes and state in (SchedulerJobState.RUNNING, SchedulerJobState.STOPPING):
            running.append(_running(job, nodes, whole))
    started = Counter(job.view.job.partition("_")[0] for job in running)
    for array in arrays:
        waiting += _waiting_tasks(array, started[array.job.partition("_")[0]], nodes.values(), whole)
    capacities = (Capacity(node_view(node), node.cpus, node.memory, node.gpus) for node in nodes.values())
    return Queue(tuple(waiting), tuple(running), tuple(capacities))


def _waiting(job: SlurmJob, nodes: Iterable[SlurmNode], whole: int) -> WaitingJob:
    # Of a heterogeneous job: as if each of its nodes had to have the most that any of them must have.
    parts = job.parts or (job,)
    gpus = [_gpus_per_node(part, whole) for part in parts]
    need = Need(
        nodes=sum(max(part.node_count, len(part.required_nodes)) for part in parts),
        cpus=max(math.ceil(part.cpus / part.node_count) for part in parts),
        memory=job.memory,
        gpus=max(each or 0.0 for each in gpus),
        required=job.required_nodes,
        exclusive=job.exclusive,
    )
    since = job.eligible or job.submitted or math.inf
    # That is too much to evict others for, or it is not known whose place it may have.
    # A node must have all of these features. Others (`a|b`, `[a*2&b*4]`) are Slurm's to read.
    readable = (
        not job.parts
        and not job.reservation
        and (not job.features or re.fullmatch(r"[\w.:-]+(?:&[\w.:-]+)*", job.features, flags=re.ASCII))
    )
    # The next job of a partition waits for Resources. Later ones wait for Priority: room made for them would go to the job before.
    blocked = job.reason == "Resources" and None not in gpus and bool(readable)
    seen = view(job.job, job, whole, ())
    kept_away = {node.name for node in nodes if not _is_open(node, job)}
    return WaitingJob(replace(seen, excluded=tuple(sorted({*seen.excluded, *kept_away}))), since, need, blocked)


def _waiting_tasks(array: SlurmJob, running: int, nodes: Iterable[SlurmNode], whole: int) -> Iterator[WaitingJob]:
    one = _waiting(array, nodes, whole)
    # The next 100 tasks of an array that waits as a whole. Once these are held, others are reported.
    for place, task in enumerate(next_tasks(array.job, running, 100)):
        # It is the first that lacks room. The others wait for it.
        yield replace(one, view=replace(one.view, job=task), blocked=one.blocked and not place)


def _is_open(node: SlurmNode, job: SlurmJob) -> bool:
    """Return whether a job may start on a node, once there is room."""
    wanted = frozenset(job.features.split("&")) - {""}
    types = gpu_types(",".join((job.tres_per_node, job.tres_per_job, job.tres_per_task)))
    # It is not known of which of its types the room on a node would be.
    fits = not types or types == node.gpu_types
    return fits and wanted <= node.features and not _CLOSED.intersection(node.states)


def _running(job: SlurmJob, nodes: Mapping[str, SlurmNode], whole: int) -> RunningJob:
    held = {
        name: Share(
            share.cpus,
            share.memory,
            held_parts(share.gres, nodes[name].shards_per_gpu if name in nodes else whole),
        )
        for name, share in job.shares.items()
    }
    return RunningJob(view(job.job, job, whole, ()), job.started or math.inf, held, job.requeue)


def _gpus_per_node(job: SlurmJob, whole: int) -> float | None:
    """Return how many GPUs a job asks for on each node; None where shards are asked for and no node has any."""
    per_node = job.asked_per_node
    if per_node.get("shard") and not whole:
        return None
    return per_node.get("gpu", 0.0) + (per_node.get("shard", 0.0) / whole if whole else 0.0)


def next_tasks(array: str, running: int, most: int) -> list[str]:
    """Return the ids of the tasks of an array that may start next, in Slurm's order: `4711_1`, `4711_3`.

    Args:
        array: As Slurm lists it, `4711_1-9:2,12%3`: the tasks that wait, and how many may run at once. A long list ends with `...`.
        running: How many of its tasks run.
        most: Return no more than these.
    """
    name, _, listed = array.partition("_")
    tasks, _, at_once = listed.partition("%")
    room = int(at_once) - running if at_once.isdecimal() else most
    return [f"{name}_{task}" for task in islice(_numbers(tasks), max(0, min(room, most)))]


def _numbers(tasks: str) -> Iterator[int]:
    for part in tasks.split(","):
        # `7`, `1-9` or `1-9:2`.
        if found := re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?", part, flags=re.ASCII):
            first, last, step = found.groups()
            yield from range(int(first), int(last or first) + 1, int(step or 1) or 1)
