"""Case study 3 of SchedMate (Figure 11): shortest job first by the advisor's estimates, and failed jobs started again at once.

Replays Helios Venus, September 2020, after its April to July has been learnt from. FIFO, SJF and SRTF (oracles), Tiresias, QSSF by plain
boosted trees, and both orders by the advisor's estimates (`processors/advise/predictors`, as in production: models of July, histories
that grow). "Backfilled": behind the first job that does not fit, others go that are not expected to delay it (EASY). Then nodes fail at
StepFun's rate, ten and fifty times as often: without a failure handler a job waits until its owner submits it again (drawn from what
Venus's users took), with one it is queued at once. Synthetic: the faults, these draws, and that jobs save every half hour. The table so
far is written after every case, and a run that was interrupted goes on where it was.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.lasched.september import ADVISOR
from benchmarks.lasched.september import run as predict_september
from benchmarks.simulate import plots
from benchmarks.simulate.cases import Kept, measure
from benchmarks.simulate.intervals import Floats, mean_and_interval
from benchmarks.simulate.options import add_fresh, add_traces, parser
from benchmarks.simulate.resubmissions import resubmission_delays
from benchmarks.simulate.tables import CASES, RESULTS
from schedmate.simulate.estimates import with_estimates
from schedmate.simulate.faults import FaultRates, draw_faults
from schedmate.simulate.job import Job, Run
from schedmate.simulate.outcomes import completion_times, write_table
from schedmate.simulate.policies.backfill import Backfilled
from schedmate.simulate.policies.ordered import by_estimate, fifo, sjf, sjf_estimated
from schedmate.simulate.policies.qssf import Qssf
from schedmate.simulate.policies.srtf import Srtf
from schedmate.simulate.policies.tiresias import Tiresias
from schedmate.simulate.replay import Scenario, replay
from schedmate.simulate.simulation import Policy
from schedmate.simulate.traces import read_jobs, read_nodes

TREES = "plain LightGBM"
SCHEDMATE = "SchedMate (SJF, advisor, backfilled)"
POLICIES: Mapping[str, tuple[Callable[[], Policy], str]] = {
    "FIFO": (fifo, TREES),
    "FIFO, backfilled": (lambda: Backfilled(lambda run: run.job.submit_s), ADVISOR),
    "SJF, true durations": (sjf, TREES),
    "SRTF, true durations": (Srtf, TREES),
    "Tiresias": (Tiresias, TREES),
    "QSSF": (Qssf, TREES),
    "QSSF, advisor": (Qssf, ADVISOR),
    "SJF, advisor": (sjf_estimated, ADVISOR),
    SCHEDMATE: (lambda: Backfilled(by_estimate), ADVISOR),
    "QSSF, backfilled": (lambda: Backfilled(_service), TREES),
}
"""Each policy, and whose estimates it has."""
FAULTY = ("FIFO", "Tiresias", "QSSF", SCHEDMATE)
TIMES = (1, 10, 50)
CHECKPOINT_S = 1800.0
Estimates = Mapping[str, Mapping[str, float]]
"""By who estimates, seconds by job."""


class Case(msgspec.Struct, frozen=True):
    """A policy with or without faults.

    Attributes:
        seed: Of the faults; 0 where there are none.
        policy: Its name.
        times: Faults over StepFun's rate; 0: none.
        handled: A failed job is queued again at once.
    """

    seed: int
    policy: str
    times: int = 0
    handled: bool = False

    @property
    def label(self) -> str:
        """The policy as tables have it."""
        return self.policy + (", failures handled" if self.handled else "")


class Result(msgspec.Struct, frozen=True):
    """What came of it.

    Attributes:
        mean_s: Mean completion time.
        wait_s: Mean wait.
        faults: Runs that a fault ended.
        percentiles_s: Of completion times, the first to the 99th.
    """

    mean_s: float
    wait_s: float
    faults: int
    percentiles_s: list[float]


Found = Mapping[Case, Result]


def main() -> None:
    made = parser(".standalone", __doc__, seeds=5)
    add_traces(made)
    add_fresh(made)
    wanted = made.parse_args()
    folder = wanted.traces / "helios-venus"
    cases = [Case(0, name) for name in POLICIES]
    cases += [
        Case(seed, name, times, handled)
        for seed in range(wanted.seeds)
        for times in TIMES
        for name in FAULTY
        for handled in ((False, True) if name == SCHEDMATE else (False,))
    ]
    kept = Kept(CASES / "standalone.jsonl", Case, Result, fresh=wanted.fresh)
    estimates = _estimates(folder) if any(case not in kept.found for case in cases) else {}
    found = measure(kept, cases, partial(_run, folder, estimates), wanted.processes, _report)
    _draw(found)
    _show(found)


def _estimates(folder: Path) -> Estimates:
    """Learn from April to July; what had ended before a submission is known then."""
    growing = next(
        each for each in predict_september(folder, retrain=False, only=(ADVISOR,)).settings if each.name == "growing"
    )
    ids = [done.job.job_id for done in growing.jobs]
    return {who: dict(zip(ids, map(float, growing.predictions[who]), strict=True)) for who in (ADVISOR, TREES)}


def _scenario(folder: Path, estimates: Mapping[str, float]) -> Scenario:
    jobs: list[Job] = with_estimates(read_jobs(folder / "venus_2020-09_all_vcs.csv.gz"), estimates)
    return Scenario(jobs=jobs, nodes=read_nodes(folder / "vc_config.csv"))


def _run(folder: Path, estimates: Estimates, case: Case) -> Result:
    make, who = POLICIES[case.policy]
    scenario = _scenario(folder, estimates[who])
    if case.times:
        jobs = [msgspec.structs.replace(job, checkpoint_every_s=CHECKPOINT_S) for job in scenario.jobs]
        begin, end = jobs[0].submit_s, jobs[-1].submit_s
        rates = FaultRates(mean_days=FaultRates().mean_days / case.times)
        delays = resubmission_delays(folder / "venus_2020-09_all_vcs.csv.gz")
        scenario = msgspec.structs.replace(
            scenario,
            jobs=jobs,
            node_events=draw_faults(scenario.nodes, begin, end, case.seed, rates),
            resubmit_s=(lambda _: 0.0) if case.handled else _Owners(delays, case.seed),
        )
    runs = replay(scenario, make).runs
    times = completion_times(runs)
    return Result(
        float(times.mean()),
        float(np.mean([run.queued for run in runs if run.ended is not None])),
        sum(run.faults for run in runs),
        np.percentile(times, np.arange(1, 100)).round(1).tolist(),
    )


def _service(run: Run) -> float:
    return by_estimate(run) * run.job.total_gpus


class _Owners:
    """Draws how long each owner takes, the same for a job under every policy."""

    def __init__(self, delays: Sequence[float], seed: int) -> None:
        self._delays = delays
        self._seed = seed

    def __call__(self, run: Run) -> float:
        return random.Random(f"{self._seed} {run.job.job_id} {run.faults}").choice(self._delays)


def _rows(found: Found) -> list[tuple[str, int, int, Floats, Floats, float]]:
    """Return the label, times StepFun's faults, seeds, means of completion and wait by seed, and runs that faults ended."""
    seeds: dict[tuple[str, int], list[Result]] = {}
    for case, result in found.items():
        seeds.setdefault((case.label, case.times), []).append(result)
    return [
        (
            label,
            times,
            len(results),
            np.array([each.mean_s for each in results]),
            np.array([each.wait_s for each in results]),
            float(np.mean([each.faults for each in results])),
        )
        for (label, times), results in seeds.items()
    ]


def _report(found: Found) -> None:
    columns = [f"{name}{part}" for name in ("JCT mean, s", "queue mean, s") for part in ("", " low", " high")]
    write_table(
        RESULTS / "standalone.csv",
        ("policy", "times StepFun's faults", "seeds", *columns, "runs ended by faults"),
        (
            [*row[:3], *(round(each, 1) for values in row[3:5] for each in mean_and_interval(values)), row[5]]
            for row in _rows(found)
        ),
    )


def _draw(found: Found) -> None:
    rows = _rows(found)
    groups = {
        f"{times} x": {row[0]: mean_and_interval(row[3]) for row in rows if row[1] == times}
        for times in TIMES
        if any(row[1] == times for row in rows)
    }
    still = [row for row in rows if not row[1]]
    plain = {
        "mean completion, s, no faults": {"all": {row[0]: mean_and_interval(row[3]) for row in still}},
        "mean wait, s, no faults": {"all": {row[0]: mean_and_interval(row[4]) for row in still}},
    }
    faulty = {"mean completion, s, faults over StepFun's rate": groups} if groups else {}
    plots.bars(RESULTS / "standalone.png", plain | faulty)
    curves = {case.label: np.array(result.percentiles_s) for case, result in found.items() if not case.times}
    plots.distributions(RESULTS / "standalone_cdf.png", {"no faults": curves})


def _show(found: Found) -> None:
    table = Table("policy", "x StepFun's faults", "JCT mean, s", "queue mean, s", "runs ended by faults")
    for label, times, _, jct, wait, faults in _rows(found):
        cells = ["{:,.0f} ({:,.0f}-{:,.0f})".format(*mean_and_interval(values)) for values in (jct, wait)]
        table.add_row(label, str(times), *cells, f"{faults:,.0f}")
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
