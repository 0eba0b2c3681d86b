"""Case study 1 of SchedMate (Figures 10, 13c): packing with and without undoing bad packings, by the share of jobs whose speed shows.

Replays Helios Venus (September 2020) and Philly with measured pairs: Lucid's (RTX 3090) and Gavel's (V100). Two packers, each beside a
queue that packs nothing: Lucid, by the profile of each job, and one that packs whatever fits into memory. Assumed, for no trace holds it:
the workload of each job but Venus's with Lucid's pairs (drawn from the measured ones); that 30 % of short profiles show a warm-up, so that
a job seems to share well (SchedMate, section 4.1); that a fifth of the jobs end early; that no job saves, so that an evicted guest loses
its work. The result so far is written after every case, and a run that was interrupted goes on where it was.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.simulate import plots
from benchmarks.simulate.cases import Kept, measure
from benchmarks.simulate.intervals import Floats, mean_and_interval
from benchmarks.simulate.options import add_fresh, add_traces, parser
from benchmarks.simulate.tables import CASES, RESULTS
from schedmate.simulate.cluster import NodeSpec
from schedmate.simulate.estimates import with_history
from schedmate.simulate.interference import PackedSpeeds, read_gavel_speeds, read_packed_speeds
from schedmate.simulate.job import Job
from schedmate.simulate.outcomes import completion_times, write_table
from schedmate.simulate.policies.lucid import LARGEST_SCORE, Cancellation, Lucid
from schedmate.simulate.replay import Scenario, replay
from schedmate.simulate.throughput import quiet_times
from schedmate.simulate.traces import read_jobs, read_nodes
from schedmate.simulate.workloads.early_exits import with_early_exits

RATES = (0.0, 0.25, 0.5, 0.75, 1.0)
MISJUDGED = 0.3
EARLY = 0.2
PHILLY_NODES = 60
PHILLY_JOBS = 20_000
PAIRS: Mapping[str, Callable[[Path], PackedSpeeds]] = {
    "RTX 3090 (Lucid)": lambda traces: read_packed_speeds(traces / "lucid" / "colocate_info.csv"),
    "V100 (Gavel)": lambda traces: read_gavel_speeds(traces / "gavel" / "simulation_throughputs.json.gz", "v100"),
}
NONE, LUCID, BLIND = "none", "Lucid", "whatever fits"


class Case(msgspec.Struct, frozen=True):
    """A draw of a trace under one packer.

    Attributes:
        seed: Of the draw.
        trace: Its name.
        pairs: Whose measurements.
        packer: Its name.
        rate: Share of the jobs whose speed shows.
    """

    seed: int
    trace: str
    pairs: str
    packer: str
    rate: float


class Result(msgspec.Struct, frozen=True):
    """What came of it.

    Attributes:
        mean_s: Mean completion time.
        percentiles_s: The first to the 99th.
        evictions: Guests that were evicted.
    """

    mean_s: float
    percentiles_s: list[float]
    evictions: int


Found = Mapping[Case, Result]


def main() -> None:
    made = parser(".packing", __doc__, seeds=5)
    add_traces(made)
    add_fresh(made)
    wanted = made.parse_args()
    cases = [
        Case(seed, trace, pairs, packer, rate)
        for seed in range(wanted.seeds)
        for pairs in PAIRS
        for trace in ("Venus", "Philly")
        for packer, rate in ((NONE, 0.0), *((packer, rate) for packer in (LUCID, BLIND) for rate in RATES))
    ]
    kept = Kept(CASES / "packing.jsonl", Case, Result, fresh=wanted.fresh)
    found = measure(kept, cases, partial(_run, wanted.traces), wanted.processes, _report)
    _draw(found)
    _show(found)


def _run(traces: Path, case: Case) -> Result:
    speeds = PAIRS[case.pairs](traces)
    scenario = (
        _venus(traces, speeds, case.seed, drawn="Gavel" in case.pairs)
        if case.trace == "Venus"
        else _philly(traces, speeds, case.seed)
    )
    jobs = [job.job_id for job in scenario.jobs]
    draws = random.Random(case.seed)
    misjudged = {job for job in jobs if draws.random() < MISJUDGED}
    tracked = {job for job in jobs if draws.random() < case.rate}
    quiet = quiet_times([job.submit_s for job in scenario.jobs])

    def score(job: Job) -> int:
        if case.packer == NONE:
            return LARGEST_SCORE + 1
        return 0 if case.packer == BLIND or job.job_id in misjudged else speeds.sharing_score(job.workload)

    rule = Cancellation(tracked=lambda job: job.job_id in tracked)
    result = replay(scenario, lambda: Lucid(speeds, quiet, rule, score))
    times = completion_times(result.runs)
    percentiles = np.percentile(times, np.arange(1, 100)).round(1).tolist()
    return Result(float(times.mean()), percentiles, sum(run.evictions for run in result.runs))


def _venus(traces: Path, speeds: PackedSpeeds, seed: int, *, drawn: bool) -> Scenario:
    folder = traces / "helios-venus"
    jobs = read_jobs(folder / "venus_2020-09_all_vcs.csv.gz")
    if drawn:
        jobs = _with_workloads(jobs, speeds, seed)
    return Scenario(jobs=_assumed(jobs, seed), nodes=read_nodes(folder / "vc_config.csv"))


def _philly(traces: Path, speeds: PackedSpeeds, seed: int) -> Scenario:
    """The first jobs of Philly on one cluster."""
    jobs = [
        msgspec.structs.replace(job, partition="")
        for job in read_jobs(traces / "philly" / "philly_jobs.csv.gz")[:PHILLY_JOBS]
    ]
    return Scenario(jobs=_assumed(_with_workloads(jobs, speeds, seed), seed), nodes=[NodeSpec()] * PHILLY_NODES)


def _with_workloads(jobs: Sequence[Job], speeds: PackedSpeeds, seed: int) -> list[Job]:
    """Which pairs fit into memory is known of the pairs; what each job has of it is not."""
    draws = random.Random(seed)
    return [msgspec.structs.replace(job, workload=draws.choice(speeds.workloads), memory_mib=0.0) for job in jobs]


def _assumed(jobs: list[Job], seed: int) -> list[Job]:
    never = [msgspec.structs.replace(job, checkpoint_every_s=float("inf")) for job in jobs]
    return with_early_exits(with_history(never), EARLY, seed)


def _rows(found: Found) -> list[tuple[str, str, str, float, Floats, Floats, Floats, float]]:
    """Return trace, pairs, packer and rate; mean completion by seed, its gain over the same packer's and over none; evictions."""
    rows = []
    for trace, pairs, packer, rate in dict.fromkeys((case.trace, case.pairs, case.packer, case.rate) for case in found):
        three = [
            (
                Case(seed, trace, pairs, packer, rate),
                Case(seed, trace, pairs, packer, 0.0),
                Case(seed, trace, pairs, NONE, 0.0),
            )
            for seed in dict.fromkeys(case.seed for case in found)
        ]
        whole = [each for each in three if all(case in found for case in each)]
        if not whole:
            continue
        mean, same, none = (np.array([found[each[place]].mean_s for each in whole]) for place in range(3))
        evictions = float(np.mean([found[each[0]].evictions for each in whole]))
        rows.append((trace, pairs, packer, rate, mean, same / mean, none / mean, evictions))
    return rows


def _report(found: Found) -> None:
    three = [f"{name}{part}" for name in ("JCT mean, s", "gain", "over no packing") for part in ("", " low", " high")]
    write_table(
        RESULTS / "packing.csv",
        ("trace", "pairs", "packer", "detection rate", "seeds", *three, "evictions"),
        (
            [
                *row[:4],
                len(row[4]),
                *(round(each, 4) for values in row[4:7] for each in mean_and_interval(values)),
                row[7],
            ]
            for row in _rows(found)
        ),
    )


def _draw(found: Found) -> None:
    rows = _rows(found)
    lines = {
        f"{trace}, {pairs}": {
            packer: [(row[3], *mean_and_interval(row[4])) for row in rows if row[:3] == (trace, pairs, packer)]
            for packer in (NONE, LUCID, BLIND)
        }
        for trace, pairs in dict.fromkeys((row[0], row[1]) for row in rows)
    }
    plots.sweeps(RESULTS / "packing.png", lines, "share of jobs whose speed shows", "mean completion, s")
    curves = {
        f"{trace}, {pairs}": {
            label: np.array(found[case].percentiles_s)
            for label, key in {
                NONE: (NONE, 0.0),
                LUCID: (LUCID, 0.0),
                f"{LUCID}, undone": (LUCID, 1.0),
                BLIND: (BLIND, 0.0),
                f"{BLIND}, undone": (BLIND, 1.0),
            }.items()
            if (case := Case(0, trace, pairs, *key)) in found
        }
        for trace, pairs in dict.fromkeys((case.trace, case.pairs) for case in found if not case.seed)
    }
    plots.distributions(RESULTS / "packing_cdf.png", curves)


def _show(found: Found) -> None:
    table = Table("trace", "pairs", "packer", "detected", "JCT mean, s", "gain", "over no packing", "evictions")
    for trace, pairs, packer, rate, mean, gain, over, evictions in _rows(found):
        cells = [f"{values[0]:,.{digits}f} ({values[1]:,.{digits}f}-{values[2]:,.{digits}f})" for values, digits in (
            (mean_and_interval(mean), 0), (mean_and_interval(gain), 3), (mean_and_interval(over), 3)
        )]  # fmt: skip
        table.add_row(trace, pairs, packer, f"{rate:g}", *cells, f"{evictions:,.0f}")
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
