"""A whole trace under one policy: each partition is a cluster of its own."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from schedmate_records import UserError

from .cluster import Cluster, NodeSpec
from .job import Job, Run
from .profiling import Profiler
from .simulation import Costs, NodeEvent, Policy, Simulation
from .timeline import Timeline, merged
from .traces import partitions


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """Input of a replay.

    Attributes:
        jobs: In the order in which they were submitted.
        nodes: Of all partitions. Where they name none, all jobs share them.
        costs: What restarts cost.
        node_events: Nodes that go and come back, by partition.
        resubmit_s: Seconds until a job that a fault ended is queued again. See `Simulation`.
        profiler: Nodes on which jobs run first; None where nothing is profiled.
    """

    jobs: Sequence[Job]
    nodes: Sequence[NodeSpec]
    costs: Costs = Costs()
    node_events: Mapping[str, Sequence[NodeEvent]] = {}
    resubmit_s: Callable[[Run], float] = lambda _: 0.0
    profiler: Profiler | None = None


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a scenario under a policy.

    Attributes:
        runs: Every job, in the order of the trace.
        timeline: Start of an interval in seconds, GPUs in use, jobs waiting, evictions in it.
        gpus: GPUs of the nodes.
        too_large: Jobs that no partition could ever hold; they are in `runs`, and never start.
    """

    runs: list[Run]
    timeline: list[tuple[float, float, int, int]]
    gpus: int
    too_large: int


class NoSuchPartition(UserError):
    """Jobs name a partition that has no nodes."""


def replay(
    scenario: Scenario,
    make_policy: Callable[[], Policy],
    progress: Callable[[int], None] = lambda _: None,
) -> Replayed:
    """Run a scenario.

    Args:
        scenario: What is replayed.
        make_policy: Makes the policy of one partition.
        progress: Called with the number of further jobs that ended.

    Raises:
        NoSuchPartition: Jobs name a partition that has no nodes.
    """
    order = {job.job_id: place for place, job in enumerate(scenario.jobs)}
    runs: list[Run] = []
    jobs = list(scenario.jobs)
    if scenario.profiler:
        runs = scenario.profiler.run(jobs)
        profiled = {run.job.job_id for run in runs}
        jobs = [job for job in jobs if job.job_id not in profiled]
        progress(len(runs))
    timelines, too_large = [], 0
    for partition, nodes, part in _split(jobs, scenario.nodes):
        fit = {shape: _fits(shape, nodes) for shape in {_shape(job) for job in part}}
        fitting = [job for job in part if fit[_shape(job)]]
        too_large += len(part) - len(fitting)
        runs += [Run(job, 0) for job in part if not fit[_shape(job)]]
        timeline = Timeline()
        watch = _Watch(timeline, progress)
        events = scenario.node_events.get(partition, ())
        simulation = Simulation(
            Cluster(nodes),
            fitting,
            make_policy(),
            costs=scenario.costs,
            node_events=events,
            resubmit_s=scenario.resubmit_s,
            tick=watch,
        )
        runs += simulation.run()
        watch.update(simulation.finished)
        timelines.append(timeline)
    runs.sort(key=lambda run: order[run.job.job_id])
    gpus = sum(node.gpus for node in scenario.nodes)
    return Replayed(runs=runs, timeline=merged(timelines), gpus=gpus, too_large=too_large)


class _Watch:
    """Records the timeline, and reports the progress from time to time."""

    def __init__(self, timeline: Timeline, progress: Callable[[int], None]) -> None:
        self._timeline = timeline
        self._progress = progress
        self._told = 0

    def __call__(self, simulation: Simulation) -> None:
        self._timeline(simulation)
        if simulation.finished - self._told >= 1000:
            self.update(simulation.finished)

    def update(self, finished: int) -> None:
        self._progress(finished - self._told)
        self._told = finished


def _split(jobs: list[Job], nodes: Sequence[NodeSpec]) -> list[tuple[str, list[NodeSpec], list[Job]]]:
    by_partition: dict[str, list[NodeSpec]] = {}
    for node in nodes:
        by_partition.setdefault(node.partition, []).append(node)
    if list(by_partition) == [""]:
        return [("", list(nodes), jobs)]
    parts = []
    for partition, part in partitions(jobs):
        if partition not in by_partition:
            known = ", ".join(sorted(by_partition))[:200]
            raise NoSuchPartition(
                f"expected nodes for partition {partition[:60]!r}, of which {part[0].job_id[:60]} is; nodes are in: {known}"
            )
        parts.append((partition, by_partition[partition], part))
    return parts


def _shape(job: Job) -> tuple[float, int, str]:
    return job.gpus, job.pods, job.gpu_type


def _fits(shape: tuple[float, int, str], nodes: Sequence[NodeSpec]) -> bool:
    """Return whether jobs of a shape could ever start on these nodes, were they empty."""
    gpus, pods, gpu_type = shape
    able = [node for node in nodes if gpu_type in {"", node.gpu_type}]
    if pods == 1:
        return gpus <= sum(node.gpus for node in able)
    return sum(int(node.gpus // gpus) for node in able) >= pods
