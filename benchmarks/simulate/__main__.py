"""Synthetic spot jobs at one, two and four times the load of GFS's Table 3, under each policy (the shape of its Table 5)."""

import argparse
import os
import sys
from collections.abc import Iterator
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.simulate.intervals import mean_and_interval
from simulate.cluster import NodeSpec
from simulate.outcomes import Summary, summaries, write_table
from simulate.policies import POLICIES
from simulate.replay import Scenario, replay
from simulate.workloads.spot import spot_workload

NODES = 287
POLICIES_COMPARED = ("yarn-cs", "chronus", "lyra", "fgd")
LOADS = (1.0, 2.0, 4.0)
RESULTS = Path(__file__).parent / "results"
FIGURES = {
    "HP JCT, s": ("hp", lambda each: each.jct_mean_s),
    "HP p99, s": ("hp", lambda each: each.jct_p99_s),
    "HP queue, s": ("hp", lambda each: each.queue_mean_s),
    "spot JCT, s": ("spot", lambda each: each.jct_mean_s),
    "spot queue, s": ("spot", lambda each: each.queue_mean_s),
    "evictions a start, %": ("spot", lambda each: 100 * each.eviction_rate),
    "GPU hours lost": ("spot", lambda each: each.lost_gpu_s / 3600),
}


class Trial(NamedTuple):
    policy: str
    load: float
    seed: int
    days: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulate", description=__doc__)
    parser.add_argument("--days", type=float, default=5, help="days in which jobs are submitted (default 5)")
    parser.add_argument("--seeds", type=int, default=10, help="workloads of each load (default 10)")
    parser.add_argument(
        "--policy", action="append", choices=list(POLICIES), help=f"default {', '.join(POLICIES_COMPARED)}"
    )
    wanted = parser.parse_args()
    policies = wanted.policy or list(POLICIES_COMPARED)
    trials = [Trial(*each, wanted.days) for each in product(policies, LOADS, range(wanted.seeds))]
    found: dict[Trial, list[Summary]] = {}
    with Pool(min(2, os.cpu_count() or 1)) as pool:
        answers = pool.imap_unordered(_run, sorted(trials, key=lambda trial: -trial.load))
        found.update(track(answers, "simulating", len(trials), console=Console(stderr=True), transient=True))
    rows = list(_rows(policies, found))
    RESULTS.mkdir(exist_ok=True)
    columns = ("load", "policy", *(f"{name}{suffix}" for name in FIGURES for suffix in ("", " ±")))
    write_table(RESULTS / "spot.csv", columns, rows)
    _print(rows, wanted.seeds, wanted.days)


def _run(trial: Trial) -> tuple[Trial, list[Summary]]:
    jobs = spot_workload(trial.days, trial.seed, trial.load)
    make = POLICIES[trial.policy].make(None, [job.submit_s for job in jobs])
    return trial, summaries(trial.policy, replay(Scenario(jobs=jobs, nodes=[NodeSpec()] * NODES), make))


def _rows(policies: list[str], found: dict[Trial, list[Summary]]) -> Iterator[list[object]]:
    for load, policy in product(LOADS, policies):
        row: list[object] = [load, policy]
        for job_class, figure in FIGURES.values():
            values = [
                figure(each)
                for trial, summary in sorted(found.items())
                if (trial.policy, trial.load) == (policy, load)
                for each in summary
                if each.job_class == job_class
            ]
            row += [round(value, 2) for value in mean_and_interval(np.array(values))]
        yield row


def _print(rows: list[list[object]], seeds: int, days: float) -> None:
    table = Table(
        "spot load",
        "policy",
        *FIGURES,
        title=f"Synthetic workload, {NODES} nodes of 8 GPUs, {days:g} days, {seeds} seeds",
    )
    for load, policy, *values in rows:
        pairs = zip(values[::2], values[1::2], strict=True)
        table.add_row(f"{load:g} x", str(policy), *(f"{mean:,.1f} ± {half:,.1f}" for mean, half in pairs))
    Console(width=None if sys.stdout.isatty() else 200).print(table)


if __name__ == "__main__":
    main()
