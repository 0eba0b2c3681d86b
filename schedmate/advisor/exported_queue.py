"""The queue in an export of Slurm's accounting (`COMMAND` of `processors/advise/predictors/sacct.py`), at its latest time.

Durations are estimated from the jobs in it that ended, as the advisor estimates them. An export states neither priorities nor the nodes
of running jobs nor why a job waits: jobs wait in the order of their submission, and running jobs are placed on the fullest nodes that
have room.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from processors.advise.past import MemoryHistory, PastEstimator, PastJob, SubmittedJob
from processors.advise.past.vectors import MOST
from scheduler_bridge.schedulers import JobView, SchedulerJobState
from scheduler_bridge.schedulers.queue import Capacity, Need, Queue, RunningJob, Share, WaitingJob
from scheduler_bridge.schedulers.slurm.actuator.queue import next_tasks
from scheduler_bridge.schedulers.views import NodeView, SchedulerNodeState

from ..simulate.cluster import NodeSpec
from .accounting import NEVER, Named, Row, is_step, job_of_sacct, sacct, seconds, state_of, submitted_job
from .starts import Expected, Known

WAITS = "PENDING"
RUNS = ("RUNNING", "RESIZING", "SUSPENDED")
"""States in which a job has its nodes (sacct(1))."""
MOST_TASKS = 100
"""Waiting tasks of one array that are simulated. An array may have millions; later tasks start later."""


class ExportedQueue(NamedTuple):
    """Content of an export.

    Attributes:
        queue: Jobs with GPUs that wait and run, and the nodes.
        known: Returns the estimated duration of a job.
        now: The latest time in the export, in seconds since 1970.
        without_gpus: Number of jobs that wait or run and use no GPU. They are left out.
        unplaced: Number of running jobs for which the nodes have no room. They are left out.
        unreadable: Number of rows that could not be read.
    """

    queue: Queue
    known: Known
    now: float
    without_gpus: int
    unplaced: int
    unreadable: int


def read_queue(lines: Iterable[str], specs: Sequence[NodeSpec]) -> ExportedQueue:
    """Read an export, with the nodes of the cluster. Nodes without a partition belong to all.

    Raises:
        UserError: The first line does not name the columns.
    """
    rows = _Rows()
    found = sacct(lines, rows.job_of)
    ended = sorted((past for _, past in found), key=lambda past: past.ended)
    waiting = sorted(rows.waiting_jobs(), key=lambda job: job.submitted)
    pools = {pool for job in (*waiting, *rows.running) for pool in job.partition.split(",")}
    nodes = [_capacity(number, spec, sorted(pools)) for number, spec in enumerate(specs, 1)]
    largest = max((node.gpus for node in nodes), default=0)
    running, unplaced = _placed(rows.running, nodes, largest, rows.now)
    queued = [_waiting(job, largest) for job in waiting if job.gpus]
    without = sum(not job.gpus for job in (*waiting, *rows.running))
    known = _Estimates(ended, [*waiting, *rows.running], rows.now)
    return ExportedQueue(
        Queue(tuple(queued), tuple(running), tuple(nodes)), known, rows.now, without, unplaced, found.skipped
    )


class _Rows:
    """Collects the jobs that wait and run, and the latest time.

    Attributes:
        running: Jobs that run, and when they started, in seconds since 1970.
        now: The latest time in the rows.
    """

    def __init__(self) -> None:
        self.running: dict[SubmittedJob, float] = {}
        self.now = 0.0
        self._waiting: list[SubmittedJob] = []

    def job_of(self, row: Row) -> Named | None:
        waits = state_of(row) == WAITS
        # The start of a job that waits may be planned: it lies in the future.
        names = ("Submit",) if waits else ("Submit", "Start", "End")
        times = [seconds(text) for name in names if (text := row.get(name, "")) not in NEVER]
        if not is_step(row) and waits:
            self._waiting.append(submitted_job(row))
        elif not is_step(row) and state_of(row) in RUNS:
            self.running[submitted_job(row)] = seconds(row["Start"])
        self.now = max(self.now, *times)
        return job_of_sacct(row)

    def waiting_jobs(self) -> Iterator[SubmittedJob]:
        """Yield the jobs that wait; of an array that waits as a whole the tasks that may start next."""
        tasks = Counter(job.job.partition("_")[0] for job in self.running if "_" in job.job)
        for job in self._waiting:
            listed = job.job.replace("[", "").replace("]", "")
            names = next_tasks(listed, tasks[listed.partition("_")[0]], MOST_TASKS) if "[" in job.job else [job.job]
            yield from (msgspec.structs.replace(job, job=name) for name in names)


def _capacity(number: int, spec: NodeSpec, pools: Sequence[str]) -> Capacity:
    name = spec.name or f"node{number}"
    return Capacity(
        NodeView(name, SchedulerNodeState.UP, (spec.partition,) if spec.partition else tuple(pools)), gpus=spec.gpus
    )


def _need(job: SubmittedJob, largest: int) -> Need:
    """Return the need of a job. Slurm counts one node for `--gpus=16` without `--nodes`."""
    nodes = max(job.nodes, 1, math.ceil(job.gpus / largest) if largest else 1)
    return Need(nodes=nodes, gpus=job.gpus / nodes)


def _view(job: SubmittedJob, state: SchedulerJobState) -> JobView:
    return JobView(
        job.job, state, word=state.value, user=job.user, partition=job.partition, limit_s=job.time_limit_s or None
    )


def _waiting(job: SubmittedJob, largest: int) -> WaitingJob:
    return WaitingJob(_view(job, SchedulerJobState.PENDING), job.submitted, _need(job, largest), blocked=True)


def _placed(
    jobs: Mapping[SubmittedJob, float], nodes: Sequence[Capacity], largest: int, now: float
) -> tuple[list[RunningJob], int]:
    """Return the running jobs with their nodes, and the number of those for which no nodes have room.

    Jobs past their time limit come last: Slurm's accounting may have lost their end.
    """

    def late_last(pair: tuple[SubmittedJob, float]) -> tuple[bool, float]:
        job, since = pair
        return 0 < job.time_limit_s < now - since, since

    free = {node.view.node: float(node.gpus) for node in nodes}
    placed: list[RunningJob] = []
    unplaced = 0
    for job, since in sorted(jobs.items(), key=late_last):
        if not job.gpus:
            continue
        need, pools = _need(job, largest), set(job.partition.split(","))
        able = [name for node in nodes if pools & set(node.view.pools) and free[name := node.view.node] >= need.gpus]
        if len(able) < need.nodes:
            unplaced += 1
            continue
        names = sorted(able, key=free.__getitem__)[: need.nodes]
        for name in names:
            free[name] -= need.gpus
        held = {name: Share(gpus={0: need.gpus}) for name in names}
        placed.append(RunningJob(_view(job, SchedulerJobState.RUNNING), since, held))
    return placed, unplaced


class _Estimates:
    """Estimates the duration of a job from those that ended."""

    def __init__(self, ended: Sequence[PastJob], jobs: Iterable[SubmittedJob], now: float) -> None:
        history = MemoryHistory()
        history.extend(ended[-MOST:])
        self._estimator = PastEstimator(history)
        self._jobs = {job.job: job for job in jobs}
        self._now = now

    def __call__(self, view: JobView) -> Expected | None:
        found = self._estimator.estimate(self._jobs[view.job])
        if found.duration_s is None:
            return None
        return Expected(found.duration_s, found.low_s, found.high_s, self._now, whole=True)
