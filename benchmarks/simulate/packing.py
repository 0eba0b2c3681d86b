"""Case study 1 of SchedMate (Figures 10, 13c): Lucid with canceled packings, and durations and profiles of similar jobs.

Replays three months of Helios Venus and Philly with measured pairs: Lucid's (RTX 3090) and Gavel's (V100). Lucid profiles each job of up to
8 GPUs for 200 s on two nodes set aside, and then queues it. SchedMate changes three parts, each alone and all together: packings that slow
the host below 0.65 are undone, durations are those of three similar jobs, and jobs with a similar one are not profiled. Similar jobs are
found for the share of jobs that was measured on labelled jobs, or for all.

Assumed, because no trace contains it: the workload of each job, except for Venus with Lucid's pairs (whose authors assigned them); that
30 % of profiles show a warm-up, so that a job seems to share well (SchedMate, section 4.1), while those of similar jobs are right; that a
fifth of the jobs end early; that no job saves, so that an evicted guest loses its work. The result so far is written after every case, and
an interrupted run continues.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.simulate import plots
from benchmarks.simulate.cases import Kept, measure
from benchmarks.simulate.gavel import read_gavel_speeds
from benchmarks.simulate.intervals import Floats, mean_and_interval
from benchmarks.simulate.options import add_fresh, add_traces, parser
from benchmarks.simulate.packing_workloads import PROFILER_NODES, WORKLOADS, read_workload
from benchmarks.simulate.retrieval import RECALL
from benchmarks.simulate.tables import CASES, RESULTS
from schedmate.simulate.cluster import Cluster, NodeSpec
from schedmate.simulate.interference import PackedSpeeds, read_packed_speeds
from schedmate.simulate.job import Job
from schedmate.simulate.outcomes import write_table
from schedmate.simulate.policies.lucid import LARGEST_PACKED, LARGEST_SCORE, Cancellation, Lucid
from schedmate.simulate.policies.ordered import Ordered
from schedmate.simulate.replay import Scenario, replay
from schedmate.simulate.simulation import Simulation
from schedmate.simulate.throughput import quiet_times
from schedmate.simulate.workloads.early_exits import with_early_exits

PROFILE_S = 200.0
MISJUDGED = 0.3
EARLY = 0.2
RATES = (0.25, 0.5, 0.75)
GAVEL = "V100 (Gavel)"
PAIRS: Mapping[str, Callable[[Path], PackedSpeeds]] = {
    "RTX 3090 (Lucid)": lambda traces: read_packed_speeds(traces / "lucid" / "colocate_info.csv"),
    GAVEL: lambda traces: read_gavel_speeds(traces / "gavel" / "simulation_throughputs.json.gz", "v100"),
}


class Variant(NamedTuple):
    """Which parts of SchedMate are on.

    Attributes:
        packs: Jobs are packed.
        cancels: Bad packings are undone.
        similar_durations: Durations are those of similar jobs.
        found: Share of the jobs that are not profiled because a similar job is found.
    """

    packs: bool = True
    cancels: bool = False
    similar_durations: bool = False
    found: float = 0.0


NONE, LUCID, CANCELLATION = "nothing packed", "Lucid", "cancellation"
VARIANTS: Mapping[str, Variant] = {
    NONE: Variant(packs=False),
    LUCID: Variant(),
    CANCELLATION: Variant(cancels=True),
    "durations": Variant(similar_durations=True),
    "profiles": Variant(found=RECALL["MiniLM"]),
    "all three": Variant(cancels=True, similar_durations=True, found=RECALL["MiniLM"]),
    "all three, all found": Variant(cancels=True, similar_durations=True, found=1.0),
}


class Case(msgspec.Struct, frozen=True):
    """A draw of a trace under one variant.

    Attributes:
        seed: Seed of the draw.
        trace: Name of the trace.
        pairs: Source of the measured pairs.
        variant: Name of the variant.
        rate: Share of the jobs whose log shows their speed.
    """

    seed: int
    trace: str
    pairs: str
    variant: str
    rate: float = 1.0


class Result(msgspec.Struct, frozen=True):
    """The outcome of a case.

    Attributes:
        mean_s: Mean completion time.
        percentiles_s: The first to the 99th percentile.
        evictions: Number of guests that were evicted.
    """

    mean_s: float
    percentiles_s: list[float]
    evictions: int


Found = Mapping[Case, Result]


def main() -> None:
    made = parser(".packing", __doc__, seeds=3)
    made.add_argument("--trace", choices=WORKLOADS, action="append", help="only these (default all)")
    add_traces(made)
    add_fresh(made)
    wanted = made.parse_args()
    cases = [
        Case(seed, trace, pairs, variant, rate)
        for seed in range(wanted.seeds)
        for trace in wanted.trace or WORKLOADS
        for pairs in PAIRS
        for variant in VARIANTS
        for rate in ((*RATES, 1.0) if variant == CANCELLATION and pairs == GAVEL else (1.0,))
    ]
    kept = Kept(CASES / "packing.jsonl", Case, Result, fresh=wanted.fresh)
    found = measure(kept, cases, partial(_run, wanted.traces), wanted.processes, _report)
    _draw(found)
    _show(found)


def _run(traces: Path, case: Case) -> Result:
    speeds, workload, variant = PAIRS[case.pairs](traces), read_workload(traces, case.trace), VARIANTS[case.variant]
    draws = random.Random(case.seed)
    jobs: list[Job] = []
    misjudged: set[str] = set()
    tracked: set[str] = set()
    similar: set[str] = set()
    assigned = workload.assigned and case.pairs != GAVEL
    for job in workload.jobs:
        drawn = draws.choice(speeds.workloads)
        for share, chosen in ((MISJUDGED, misjudged), (case.rate, tracked), (variant.found, similar)):
            if draws.random() < share:
                chosen.add(job.job_id)
        estimate = workload.lucid.get(job.job_id)
        if variant.similar_durations:
            estimate = workload.similar.get(job.job_id, estimate)
        jobs.append(
            msgspec.structs.replace(
                job,
                estimate_s=estimate,
                checkpoint_every_s=float("inf"),
                workload=job.workload if assigned else drawn,
                memory_mib=job.memory_mib if assigned else 0.0,
            )
        )
    jobs = with_early_exits(jobs, EARLY, case.seed)
    times, queued = _profile(jobs, similar)

    def score(job: Job) -> int:
        if not variant.packs:
            return LARGEST_SCORE + 1
        return 0 if job.job_id in misjudged - similar else speeds.sharing_score(job.workload)

    rule = Cancellation(tracked=lambda job: job.job_id in tracked) if variant.cancels else None
    quiet = quiet_times([job.submit_s for job in queued])
    runs = replay(Scenario(jobs=queued, nodes=workload.nodes), lambda: Lucid(speeds, quiet, rule, score)).runs
    submitted = {job.job_id: job.submit_s for job in jobs}
    times += [run.ended - submitted[run.job.job_id] for run in runs if run.ended is not None]
    percentiles = np.percentile(times, np.arange(1, 100)).round(1).tolist()
    return Result(float(np.mean(times)), percentiles, sum(run.evictions for run in runs))


def _profile(jobs: Sequence[Job], similar: set[str]) -> tuple[list[float], list[Job]]:
    """Return the completion times of the jobs that end while they are profiled, and the other jobs, queued after their profile."""
    small = [job for job in jobs if job.total_gpus <= LARGEST_PACKED and job.job_id not in similar]
    short = [msgspec.structs.replace(job, duration_s=min(job.duration_s, PROFILE_S)) for job in small]
    runs = Simulation(Cluster([NodeSpec()] * PROFILER_NODES), short, Ordered(lambda run: run.job.total_gpus)).run()
    ends = {run.job.job_id: run.ended for run in runs if run.ended is not None}
    done = {job.job_id: ends[job.job_id] - job.submit_s for job in small if job.duration_s <= PROFILE_S}
    queued = [
        msgspec.structs.replace(job, submit_s=ends.get(job.job_id, job.submit_s))
        for job in jobs
        if job.job_id not in done
    ]
    return list(done.values()), sorted(queued, key=lambda job: job.submit_s)


class Row(NamedTuple):
    """One variant on one trace, by seed.

    Attributes:
        key: Trace, pairs, variant, and share of the jobs whose log shows their speed.
        mean: Mean completion, in seconds.
        gain: That of Lucid over it.
        over_none: That of no packing over it.
        evictions: Mean number of evicted guests.
    """

    key: tuple[str, str, str, float]
    mean: Floats
    gain: Floats
    over_none: Floats
    evictions: float


def _rows(found: Found) -> list[Row]:
    seeds = list(dict.fromkeys(case.seed for case in found))
    rows = []
    for key in dict.fromkeys((case.trace, case.pairs, case.variant, case.rate) for case in found):
        three = [
            [found.get(Case(seed, *each)) for each in (key, (*key[:2], LUCID, 1.0), (*key[:2], NONE, 1.0))]
            for seed in seeds
        ]
        whole = [[each.mean_s for each in results if each] for results in three]
        mean, lucid, none = np.array([each for each in whole if len(each) == 3]).reshape(-1, 3).T
        if len(mean):
            evictions = float(np.mean([results[0].evictions for results in three if results[0]]))
            rows.append(Row(key, mean, lucid / mean, none / mean, evictions))
    return rows


def _report(found: Found) -> None:
    names = ("JCT mean, s", "gain over Lucid", "gain over no packing")
    three = [f"{name}{part}" for name in names for part in ("", " low", " high")]
    write_table(
        RESULTS / "packing.csv",
        ("trace", "pairs", "variant", "detection rate", "seeds", *three, "evictions"),
        (
            [
                *row.key,
                len(row.mean),
                *(round(each, 4) for values in row[1:4] for each in mean_and_interval(values)),
                round(row.evictions, 1),
            ]
            for row in _rows(found)
        ),
    )


def _draw(found: Found) -> None:
    rows = _rows(found)
    panels = {
        f"gain over Lucid, {pairs}": {
            trace: {
                row.key[2]: mean_and_interval(row.gain)
                for row in rows
                if row.key[:2] == (trace, pairs) and row.key[3] == 1
            }
            for trace in dict.fromkeys(row.key[0] for row in rows)
        }
        for pairs in PAIRS
    }
    plots.bars(RESULTS / "packing.png", panels)
    curves = {
        f"{trace}, {pairs}": {
            case.variant: np.array(result.percentiles_s)
            for case, result in found.items()
            if (case.seed, case.trace, case.pairs, case.rate) == (0, trace, pairs, 1)
        }
        for trace, pairs in dict.fromkeys((case.trace, case.pairs) for case in found)
    }
    plots.distributions(RESULTS / "packing_cdf.png", curves)


def _show(found: Found) -> None:
    table = Table("trace", "pairs", "variant", "detected", "JCT mean, s", "over Lucid", "over no packing", "evictions")
    for row in _rows(found):
        cells = [
            f"{{:,.{digits}f}} ({{:,.{digits}f}}-{{:,.{digits}f}})".format(*mean_and_interval(values))
            for values, digits in ((row.mean, 0), (row.gain, 3), (row.over_none, 3))
        ]
        table.add_row(*row.key[:3], f"{row.key[3]:g}", *cells, f"{row.evictions:,.0f}")
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
