"""A cluster under a scheduler like Slurm's, looked at now and then: the queue as the scheduler shows it, and what came."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from schedmate.simulate.cluster import Cluster, Node, NodeSpec
from schedmate.simulate.gangs import as_gangs
from schedmate.simulate.job import Job, Run, Status
from schedmate.simulate.policies.backfill import Backfilled
from schedmate.simulate.simulation import Policy, Simulation
from schedmate.simulate.traces import partitions
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

HOUR, DAY = 3600.0, 86_400.0
USUAL_S = tuple(hours * HOUR for hours in (1, 2, 4, 8, 12, 24, 48, 96, 168, 336, 720, 1440))
"""Limits that people ask for."""


def one_limit(jobs: Sequence[Job]) -> list[Job]:
    """Nobody asks for a limit: each job has its partition's, which is as many days as the longest job needs."""
    longest = max(job.duration_s for job in jobs)
    return [_limited(job, DAY * math.ceil(longest / DAY)) for job in jobs]


def twice_the_duration(jobs: Sequence[Job]) -> list[Job]:
    """Each job asks for at least twice what it takes, rounded up to a usual limit."""
    return [_limited(job, next(step for step in USUAL_S if step >= 2 * job.duration_s)) for job in jobs]


LIMITS: Mapping[str, Callable[[Sequence[Job]], list[Job]]] = {
    "the partition's": one_limit,
    "twice the duration": twice_the_duration,
}


@dataclass(frozen=True)
class Case:
    """One virtual cluster under one rule of limits (the jobs' `estimate_s`)."""

    limits: str
    jobs: Sequence[Job]
    nodes: Sequence[NodeSpec]


@dataclass(frozen=True)
class Look:
    """One moment at which jobs wait.

    Attributes:
        now: In seconds of the trace.
        queue: What the scheduler shows.
        left_s: What is left of each job that runs: the truth.
    """

    now: float
    queue: Queue
    left_s: Mapping[str, float]


def made_cases(jobs: Sequence[Job], nodes: Sequence[NodeSpec]) -> list[Case]:
    """Return a case for each virtual cluster and rule of limits."""
    return [
        Case(name, rule(as_gangs(part, nodes)), [node for node in nodes if node.partition == partition])
        for name, rule in LIMITS.items()
        for partition, part in partitions(list(jobs))
    ]


def replayed(case: Case, every_s: float) -> tuple[list[Look], Mapping[str, float]]:
    """Return looks at the queue, one every so many seconds, and when each job started.

    Who starts is decided by submission with EASY backfilling by limits, and nobody is ended by one. Looks at which nobody waits are left
    out.
    """
    policy = _LookedAt(Backfilled(lambda run: run.job.submit_s, by_pods=True), every_s)
    runs = Simulation(Cluster(case.nodes), case.jobs, policy).run()
    return policy.looks, {run.job.job_id: run.first_start for run in runs if run.first_start is not None}


class _LookedAt:
    """A policy that somebody looks at by the clock, and not when something happens: else most looks would see who has just come."""

    polls = False

    def __init__(self, policy: Policy, every_s: float) -> None:
        self._policy, self._every_s = policy, every_s
        self._due: float | None = None
        self.looks: list[Look] = []

    def submit(self, run: Run, now: float) -> None:
        self._policy.submit(run, now)

    def ended(self, run: Run, now: float) -> None:
        self._policy.ended(run, now)

    def schedule(self, simulation: Simulation) -> float:
        self._policy.schedule(simulation)
        now = simulation.now
        if self._due is None:
            self._due = now + self._every_s
        if now >= self._due:
            self._due += self._every_s
            queue = queue_of(simulation)
            if queue.waiting:
                left_s = {run.job.job_id: run.remaining(now) for run in simulation.running.values()}
                self.looks.append(Look(now, queue, left_s))
        return self._due


def queue_of(simulation: Simulation) -> Queue:
    """Return what a scheduler would show of a simulation at this moment. Of what nodes have, GPUs alone."""
    waiting = [run for run in simulation.runs[: simulation.submitted] if run.status is Status.WAITING]
    return Queue(
        tuple(
            WaitingJob(_view(run, SchedulerJobState.PENDING), run.waiting_since, _need(run.job), blocked=True)
            for run in waiting
        ),
        tuple(
            RunningJob(_view(run, SchedulerJobState.RUNNING), run.started, _held(run))
            for run in simulation.running.values()
        ),
        tuple(_capacity(node) for node in simulation.cluster.nodes),
    )


def _limited(job: Job, limit_s: float) -> Job:
    return msgspec.structs.replace(job, estimate_s=limit_s)


def _view(run: Run, state: SchedulerJobState) -> JobView:
    job = run.job
    return JobView(job.job_id, state, user=job.user, partition=job.partition, priority=0, limit_s=job.estimate_s)


def _need(job: Job) -> Need:
    return Need(nodes=job.pods, gpus=job.gpus)


def _held(run: Run) -> Mapping[str, Share]:
    gpus: dict[str, dict[int, float]] = {}
    for piece in run.placement:
        gpus.setdefault(f"n{piece.node}", {}).update(dict.fromkeys(piece.gpus, piece.share))
    return {node: Share(gpus=held) for node, held in gpus.items()}


def _capacity(node: Node) -> Capacity:
    return Capacity(NodeView(f"n{node.index}", SchedulerNodeState.UP, (node.spec.partition,)), gpus=node.spec.gpus)
