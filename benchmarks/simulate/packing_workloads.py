"""The traces of the packing benchmark, with the durations that Lucid and the advisor would have estimated."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from benchmarks.lasched.plain_trees import PlainTrees
from benchmarks.lasched.traces.venus import SEPTEMBER, SPRING, UTC_OFFSET_S
from benchmarks.simulate.retrieval import similar_durations
from processors.advise.predictors.dataset import build
from processors.advise.predictors.features import Encoders
from processors.advise.predictors.job import Completion, Submission
from schedmate.simulate.cluster import NodeSpec
from schedmate.simulate.job import Job
from schedmate.simulate.profiling import lend
from schedmate.simulate.traces import read_estimates, read_jobs, read_nodes

DAY = 86_400.0
MAY, JUNE, JULY = 30 * DAY, 61 * DAY, 91 * DAY
"""Seconds since 1 April."""
LENDERS = ("vcvGl", "vcJsw")
"""Virtual clusters of Venus that lend a node each to the profiler: the largest ones."""
PHILLY_NODES = 60
PHILLY_JOBS = 20_000
PROFILER_NODES = 2


class Workload(NamedTuple):
    """A trace, without the nodes of the profiler.

    Attributes:
        jobs: In the order in which they were submitted.
        nodes: Of all virtual clusters.
        lucid: Durations that Lucid estimates, in seconds by job.
        similar: Mean durations of similar jobs.
        assigned: The jobs have the workloads that the authors of Lucid assigned.
    """

    jobs: Sequence[Job]
    nodes: Sequence[NodeSpec]
    lucid: Mapping[str, float]
    similar: Mapping[str, float]
    assigned: bool


@cache
def read_workload(traces: Path, name: str) -> Workload:
    """Return a workload of `WORKLOADS`."""
    return WORKLOADS[name](traces)


def _september(traces: Path) -> Workload:
    """Lucid's estimates are those published with it."""
    folder = traces / "helios-venus"
    jobs = read_jobs(folder / SEPTEMBER)
    lucid = read_estimates(traces / "lucid" / "venus_sept_priority_ebm.csv.gz")
    similar = similar_durations([*read_jobs(folder / SPRING), *jobs])
    return Workload(jobs, lend(read_nodes(folder / "vc_config.csv"), LENDERS), lucid, similar, assigned=True)


def _spring(begin: float, end: float) -> Callable[[Path], Workload]:
    """Boosted trees that learned from the months before estimate for Lucid."""

    def read(traces: Path) -> Workload:
        folder = traces / "helios-venus"
        known = [job for job in read_jobs(folder / SPRING) if job.submit_s < end]
        jobs = [job for job in known if job.submit_s >= begin]
        nodes = lend(read_nodes(folder / "vc_config.csv"), LENDERS)
        return Workload(jobs, nodes, _by_trees(known, begin), similar_durations(known), assigned=True)

    return read


def _philly(traces: Path) -> Workload:
    """The second 20,000 jobs on one cluster, after the first were learned from; virtual clusters replace users."""
    file = traces / "philly" / "philly_jobs.csv.gz"
    known = read_jobs(file)[: 2 * PHILLY_JOBS]
    begin = known[PHILLY_JOBS].submit_s
    jobs = [msgspec.structs.replace(job, partition="") for job in known if job.submit_s >= begin]
    return Workload(
        jobs,
        [NodeSpec()] * (PHILLY_NODES - PROFILER_NODES),
        _by_trees(known, begin),
        similar_durations(known),
        assigned=False,
    )


WORKLOADS: Mapping[str, Callable[[Path], Workload]] = {
    "Venus, May": _spring(MAY, JUNE),
    "Venus, June": _spring(JUNE, JULY),
    "Venus, September": _september,
    "Philly": _philly,
}


def _by_trees(jobs: Sequence[Job], begin: float) -> Mapping[str, float]:
    """Return what boosted trees estimate that learned from the jobs submitted before `begin`, in seconds by job."""
    completions = [_completion(job) for job in jobs]
    past = [each for each in completions if each.job.submitted < begin]
    data = build(completions, Encoders.fit(past, UTC_OFFSET_S))
    border = len(past)
    trees = PlainTrees()
    trees.fit(data.select_rows(slice(0, border)), data.select_rows(slice(0, 0)))
    durations = np.maximum(1.0, np.expm1(trees.predict(data.select_rows(slice(border, None)))))
    return {each.job.job_id: float(value) for each, value in zip(data.jobs[border:], durations, strict=True)}


def _completion(job: Job) -> Completion:
    submission = Submission(
        job_id=job.job_id, submitted=job.submit_s, user=job.user, queue=job.partition, gpus=job.total_gpus
    )
    return Completion(job=submission, ended=job.submit_s + job.duration_s, duration_s=job.duration_s)
