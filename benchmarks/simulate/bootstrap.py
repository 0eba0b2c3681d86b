"""Case study 2 of SchedMate (Table 3): Sia, which profiles every job on each GPU type first, and Sia that begins with what a similar job
was seen to do.

Replays the workloads published with Sia (Philly, Helios' Saturn, and a newer trace of its authors), with the goodput its authors measured
of five trainings on T4, A100 and RTX 2080 Ti, on its cluster of 64 GPUs. Jobs are elastic: they get other GPUs while they run.
Assumed, for no trace holds it: that a profile takes 20 s after the start, on one GPU of each type at once; that jobs of one application are
similar, and found for all jobs, or for as many as retrieval found on labelled jobs; that a fifth of the jobs end early. The result so far
is written after every workload, and a run that was interrupted goes on where it was.
"""

import csv
import io
import random
import tarfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.simulate import plots
from benchmarks.simulate.cases import Kept, measure
from benchmarks.simulate.elastic.measurements import Application, read_applications
from benchmarks.simulate.elastic.sia import PROFILE_S, History, NoHistory, Sia, nodes
from benchmarks.simulate.intervals import mean_and_interval
from benchmarks.simulate.options import add_fresh, add_traces, parser
from benchmarks.simulate.plots import Interval
from benchmarks.simulate.retrieval import RECALL
from benchmarks.simulate.tables import CASES, RESULTS
from schedmate.simulate.job import Job, PackedWorkload, Run
from schedmate.simulate.outcomes import completion_times, write_table
from schedmate.simulate.replay import Scenario, replay
from schedmate.simulate.simulation import Costs
from schedmate.simulate.workloads.early_exits import with_early_exits

ARCHIVE = "sia/sia_workloads_traces.tar.gz"
WORKLOADS = {"Philly": "philly", "Helios": "saturn", "Sia": "newtrace"}
"""By the names of Table 3, the folder."""
EARLY = 0.2


class SimilarJobs:
    """Jobs of the same application are similar: what one was seen to do, others know at their submission, if it is found.

    Args:
        recall: Share of the jobs for which a similar job is found. The jobs are drawn, the same for each variant.
    """

    def __init__(self, recall: float = 1.0) -> None:
        self._recall = recall
        self._seen: dict[str, set[int]] = {}

    def of(self, run: Run) -> set[int] | None:
        """Return what is known; None for the first job of an application, and where no similar job is found."""
        seen = self._seen.get(_model(run))
        found = random.Random(f"{run.job.job_id} {run.job.submit_s}").random() < self._recall
        return set(seen) if seen and found else None

    def note(self, run: Run, seen: set[int]) -> None:
        """Remember."""
        self._seen.setdefault(_model(run), set()).update(seen)


VARIANTS: Mapping[str, tuple[Callable[[], History], float | None]] = {
    "Sia": (NoHistory, PROFILE_S),
    "Sia, profiles for nothing": (NoHistory, None),
    "Sia, begun by similar jobs": (SimilarJobs, PROFILE_S),
    "the same, MiniLM's recall": (partial(SimilarJobs, RECALL["MiniLM"]), PROFILE_S),
    "the same, hashed records' recall": (partial(SimilarJobs, RECALL["hashed records"]), PROFILE_S),
}
"""What is known of jobs before, and how long a profile takes."""


class Case(msgspec.Struct, frozen=True):
    """One workload under one variant."""

    trace: str
    workload: int
    policy: str


class Result(msgspec.Struct, frozen=True):
    """What came of it; times in hours."""

    jobs: int
    mean_h: float
    p99_h: float
    makespan_h: float
    changes: float


def main() -> None:
    made = parser(".bootstrap", __doc__, seeds=None)
    made.add_argument("--workloads", type=int, default=8, help="of each trace, the first (default 8)")
    made.add_argument("--trace", choices=WORKLOADS, action="append", help="only these (default all)")
    add_traces(made)
    add_fresh(made)
    wanted = made.parse_args()
    cases = [
        Case(trace, number, policy)
        for number in range(1, wanted.workloads + 1)
        for trace in wanted.trace or WORKLOADS
        for policy in VARIANTS
    ]
    kept = Kept(CASES / "bootstrap.jsonl", Case, Result, fresh=wanted.fresh)
    found = measure(kept, cases, partial(_run, wanted.traces), wanted.processes, _report)
    _draw(found)
    _show(found)


def _run(traces: Path, case: Case) -> Result:
    applications = _applications(traces)
    history, profile_s = VARIANTS[case.policy]
    jobs = with_early_exits(_jobs(traces, case, applications), EARLY, case.workload)
    scenario = Scenario(jobs=jobs, nodes=nodes(), costs=Costs(restart_s=0, restart_large_s=0))
    runs = replay(scenario, lambda: Sia(applications, history(), profile_s)).runs
    times = completion_times(runs) / 3600
    last = max(run.ended or 0.0 for run in runs)
    return Result(
        jobs=len(times),
        mean_h=float(times.mean()),
        p99_h=float(np.percentile(times, 99)),
        makespan_h=(last - runs[0].job.submit_s) / 3600,
        changes=sum(run.evictions for run in runs) / len(runs),
    )


@cache
def _applications(traces: Path) -> Mapping[str, Application]:
    return read_applications(traces / ARCHIVE)


def _jobs(traces: Path, case: Case, applications: Mapping[str, Application]) -> list[Job]:
    """Read a workload; how many GPUs and which batch its users asked for does not matter to an elastic job."""
    with tarfile.open(traces / ARCHIVE) as opened:
        stream = opened.extractfile(f"workloads/{WORKLOADS[case.trace]}/workload-{case.workload}.csv")
        assert stream is not None
        rows = list(csv.DictReader(io.TextIOWrapper(stream, "utf-8")))
    return [
        Job(
            job_id=row["name"],
            submit_s=float(row["time"]),
            duration_s=float(applications[row["application"]].ends[-1]),
            workload=PackedWorkload(row["application"]),
        )
        for row in rows
    ]


def _model(run: Run) -> str:
    assert run.job.workload is not None
    return run.job.workload.model


FIGURES: Mapping[str, Callable[[Result], float]] = {
    "JCT mean, h": lambda result: result.mean_h,
    "JCT p99, h": lambda result: result.p99_h,
    "makespan, h": lambda result: result.makespan_h,
    "changes of GPUs a job": lambda result: result.changes,
}


def _rows(found: Mapping[Case, Result]) -> Iterator[tuple[str, str, int, list[Interval]]]:
    """Means over workloads, and of the mean completion the ratio to Sia's, workload by workload."""
    for trace in WORKLOADS:
        for policy in VARIANTS:
            numbers = [case.workload for case in found if case.trace == trace and case.policy == policy]
            both = [number for number in numbers if Case(trace, number, "Sia") in found]
            if not both:
                continue
            results = [found[Case(trace, number, policy)] for number in both]
            ratio = [
                found[Case(trace, number, policy)].mean_h / found[Case(trace, number, "Sia")].mean_h for number in both
            ]
            values = [np.array([figure(result) for result in results]) for figure in FIGURES.values()]
            yield trace, policy, len(both), [mean_and_interval(each) for each in (*values, np.array(ratio))]


def _report(found: Mapping[Case, Result]) -> None:
    names = (*FIGURES, "JCT mean over Sia's")
    columns = ("trace", "policy", "workloads", *(f"{name}{part}" for name in names for part in ("", " low", " high")))
    flat = ([*row[:3], *(round(each, 4) for triple in row[3] for each in triple)] for row in _rows(found))
    write_table(RESULTS / "bootstrap.csv", columns, flat)


def _draw(found: Mapping[Case, Result]) -> None:
    rows = list(_rows(found))
    panels = {
        name: {
            trace: {policy: values[place] for where, policy, _, values in rows if where == trace}
            for trace in dict.fromkeys(row[0] for row in rows)
        }
        for place, name in enumerate(tuple(FIGURES)[:3])
    }
    plots.bars(RESULTS / "bootstrap.png", panels)


def _show(found: Mapping[Case, Result]) -> None:
    table = Table("trace", "policy", "workloads", *FIGURES, "JCT mean over Sia's")
    for trace, policy, count, values in _rows(found):
        table.add_row(trace, policy, str(count), *("{:.2f} ({:.2f}-{:.2f})".format(*triple) for triple in values))
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
