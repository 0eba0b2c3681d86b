"""Case study 1 of SchedMate (Figures 10, 13c): Lucid with and without undoing bad packings, by the share of jobs whose speed shows.

Replays Helios Venus (September 2020) and Philly with the pairs that Lucid measured; the traces are read where they lie. Assumed, for no
trace holds it: on Philly each job's workload (drawn from the measured ones); on both that 30 % of short profiles show a warm-up, so that a
job seems to share well (SchedMate, section 4.1), that a fifth of the jobs end early, and that no job saves, so that an evicted guest loses
its work.
"""

import argparse
import random
from pathlib import Path

import msgspec
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.simulate.intervals import mean_and_interval
from simulate.cluster import NodeSpec
from simulate.estimates import with_history
from simulate.interference import PackedSpeeds, read_packed_speeds
from simulate.job import Job
from simulate.outcomes import completion_times, write_table
from simulate.policies.lucid import Cancellation, Lucid
from simulate.replay import Scenario, replay
from simulate.throughput import quiet_times
from simulate.traces import read_jobs, read_nodes
from simulate.workloads.early_exits import with_early_exits

TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces"
RESULTS = Path(__file__).parent / "results"
RATES = (0.0, 0.25, 0.5, 0.75, 1.0)
MISJUDGED = 0.3
EARLY = 0.2
PHILLY_NODES = 60
PHILLY_JOBS = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulate.packing", description=__doc__)
    parser.add_argument("--traces", type=Path, default=TRACES, help="folder of the public traces")
    parser.add_argument("--seeds", type=int, default=5)
    wanted = parser.parse_args()
    if not wanted.traces.is_dir():
        raise SystemExit(f"expected public traces in {wanted.traces}; say --traces FOLDER")
    speeds = read_packed_speeds(wanted.traces / "lucid" / "colocate_info.csv")
    table = Table(
        "trace", "detection rate", "JCT mean, s", "better than Lucid", "evictions", title=f"{wanted.seeds} seeds"
    )
    rows: list[list[object]] = []
    for name, load in {"Venus": _venus, "Philly": _philly}.items():
        scenarios = [load(wanted.traces, speeds, seed) for seed in range(wanted.seeds)]
        lucid: np.ndarray[tuple[int], np.dtype[np.float64]] | None = None
        for rate in track(RATES, name, console=Console(stderr=True), transient=True):
            found = np.array([_run(scenario, speeds, rate, seed) for seed, scenario in enumerate(scenarios)])
            lucid = found[:, 0] if lucid is None else lucid
            mean, low, high = mean_and_interval(found[:, 0])
            gain, gain_low, gain_high = mean_and_interval(lucid / found[:, 0])
            evictions = float(found[:, 1].mean())
            times, gains = (
                (round(each, 1) for each in (mean, low, high)),
                (round(each, 4) for each in (gain, gain_low, gain_high)),
            )
            rows.append([name, rate, *times, *gains, evictions])
            table.add_row(
                name,
                f"{rate:g}",
                f"{mean:,.0f} ({low:,.0f}-{high:,.0f})",
                f"{gain:.3f} ({gain_low:.3f}-{gain_high:.3f}) x",
                f"{evictions:,.0f}",
            )
    RESULTS.mkdir(exist_ok=True)
    times, gains = ("JCT mean, s", "low", "high"), ("better than Lucid, times", "low", "high")
    columns = ("trace", "detection rate", *times, *gains, "evictions")
    write_table(RESULTS / "packing.csv", columns, rows)
    Console().print(table)


def _run(scenario: Scenario, speeds: PackedSpeeds, rate: float, seed: int) -> tuple[float, float]:
    """Return the mean completion time in seconds and the evictions under Lucid that undoes what it sees of bad packings."""
    jobs = [job.job_id for job in scenario.jobs]
    draws = random.Random(seed)
    misjudged = {job for job in jobs if draws.random() < MISJUDGED}
    tracked = {job for job in jobs if draws.random() < rate}
    quiet = quiet_times([job.submit_s for job in scenario.jobs])

    def score(job: Job) -> int:
        return 0 if job.job_id in misjudged else speeds.sharing_score(job.workload)

    rule = Cancellation(tracked=lambda job: job.job_id in tracked)
    result = replay(scenario, lambda: Lucid(speeds, quiet, rule, score))
    return float(completion_times(result.runs).mean()), float(sum(run.evictions for run in result.runs))


def _venus(traces: Path, _: PackedSpeeds, seed: int) -> Scenario:
    folder = traces / "helios-venus"
    jobs = read_jobs(folder / "venus_2020-09_all_vcs.csv.gz")
    return Scenario(jobs=_assumed(jobs, seed), nodes=read_nodes(folder / "vc_config.csv"))


def _philly(traces: Path, speeds: PackedSpeeds, seed: int) -> Scenario:
    """The first jobs of Philly on one cluster, each with a workload that was measured."""
    draws = random.Random(seed)
    workloads = speeds.workloads
    jobs = [
        msgspec.structs.replace(job, partition="", workload=draws.choice(workloads))
        for job in read_jobs(traces / "philly" / "philly_jobs.csv.gz")[:PHILLY_JOBS]
    ]
    return Scenario(jobs=_assumed(jobs, seed), nodes=[NodeSpec()] * PHILLY_NODES)


def _assumed(jobs: list[Job], seed: int) -> list[Job]:
    never = [msgspec.structs.replace(job, checkpoint_every_s=float("inf")) for job in jobs]
    return with_early_exits(with_history(never), EARLY, seed)


if __name__ == "__main__":
    main()
