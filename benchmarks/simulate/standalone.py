"""Case study 3 of SchedMate (Figure 11): shortest job first by estimates, and failed jobs restarted at once.

Replays Helios Venus, September 2020; models and histories begin with its April to July. Compares FIFO, SJF and SRTF with true durations,
Tiresias, QSSF by boosted trees, and SJF by three estimates: the mean of the three most similar jobs (the user's last ones of as many GPUs,
since the trace has no source code), the advisor (`processors/advise/predictors`, with histories that grow), and progress (a running job's
end is known with the error measured on logs, for the share of jobs whose log shows it, or for all). "Backfilled": jobs behind the first
that does not fit start if they are not expected to delay it (EASY). Then nodes fail at StepFun's rate, and ten times as often.
Without a failure handler a failed job waits until its owner submits it again (drawn from the delays of Venus's users), with one it is
queued at once. Synthetic: the faults, these delays, the errors of progress, and that jobs save every half hour. The table so far is
written after every case, and an interrupted run continues.
"""

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.lasched.september import ADVISOR
from benchmarks.lasched.september import run as predict_september
from benchmarks.lasched.traces.venus import SEPTEMBER, SPRING
from benchmarks.simulate import plots
from benchmarks.simulate.cases import Kept, measure
from benchmarks.simulate.intervals import Floats, mean_and_interval
from benchmarks.simulate.options import add_fresh, add_traces, parser
from benchmarks.simulate.resubmissions import resubmission_delays
from benchmarks.simulate.retrieval import similar_durations
from benchmarks.simulate.starts.knowledge import PROGRESS_DEVIATION, SHOWS_PROGRESS
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
SIMILAR = "three similar jobs"
SCHEDMATE = "SJF, similar, backfilled"


def _submitted(run: Run) -> float:
    return run.job.submit_s


def _service(run: Run) -> float:
    return by_estimate(run) * run.job.total_gpus


def _with_progress(share: float, seed: int) -> Policy:
    """Return SJF with backfilling in which a running job's progress shows its duration, for a share of the jobs."""

    def duration(run: Run) -> float:
        draws = random.Random(f"{seed} {run.job.job_id}")
        if draws.random() >= share:
            return by_estimate(run)
        return run.job.duration_s * draws.lognormvariate(0.0, PROGRESS_DEVIATION)

    return Backfilled(by_estimate, running=duration)


POLICIES: Mapping[str, tuple[Callable[[int], Policy], str]] = {
    "FIFO": (lambda _: fifo(), TREES),
    "FIFO, backfilled": (lambda _: Backfilled(_submitted), SIMILAR),
    "SJF, true durations": (lambda _: sjf(), TREES),
    "SRTF, true durations": (lambda _: Srtf(), TREES),
    "Tiresias": (lambda _: Tiresias(), TREES),
    "QSSF": (lambda _: Qssf(), TREES),
    "QSSF, backfilled": (lambda _: Backfilled(_service), TREES),
    "QSSF, advisor": (lambda _: Qssf(), ADVISOR),
    "SJF, similar": (lambda _: sjf_estimated(), SIMILAR),
    "SJF, advisor": (lambda _: sjf_estimated(), ADVISOR),
    SCHEDMATE: (lambda _: Backfilled(by_estimate), SIMILAR),
    "SJF, advisor, backfilled": (lambda _: Backfilled(by_estimate), ADVISOR),
    "SJF, similar, backfilled, progress of a third": (partial(_with_progress, SHOWS_PROGRESS), SIMILAR),
    "SJF, similar, backfilled, progress of all": (partial(_with_progress, 1.0), SIMILAR),
}
"""Each policy by a seed, and the source of its estimates."""
SEEDED = tuple(name for name in POLICIES if "progress" in name)
FAULTY = ("FIFO", "Tiresias", "QSSF", SCHEDMATE)
TIMES = (1, 10)
CHECKPOINT_S = 1800.0
Estimates = Mapping[str, Mapping[str, float]]
"""By source, seconds by job."""


class Case(msgspec.Struct, frozen=True):
    """A policy with or without faults.

    Attributes:
        seed: Of the faults and of the errors of progress.
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
    cases = [Case(seed, name) for name in POLICIES for seed in range(wanted.seeds if name in SEEDED else 1)]
    cases += [
        Case(seed, name, times, handled)
        for seed in range(wanted.seeds)
        for times in TIMES
        for name in FAULTY
        for handled in ((False, True) if name == SCHEDMATE else (False,))
    ]
    kept = Kept(CASES / "standalone.jsonl", Case, Result, fresh=wanted.fresh)
    estimates: Estimates = {}
    if any(case not in kept.found for case in cases):
        print("learning durations from April to July", file=sys.stderr, flush=True)
        estimates = _estimates(folder)
    found = measure(kept, cases, partial(_run, folder, estimates), wanted.processes, _report)
    _draw(found)
    _show(found)


def _estimates(folder: Path) -> Estimates:
    """Return the estimates for September; jobs that had ended before a submission are known then."""
    predicted = predict_september(folder, retrain=False, only=(ADVISOR,)).settings
    growing = next(each for each in predicted if each.name == "growing")
    ids = [done.job.job_id for done in growing.jobs]
    found = {
        source: dict(zip(ids, map(float, growing.predictions[source]), strict=True)) for source in (ADVISOR, TREES)
    }
    similar = similar_durations([*read_jobs(folder / SPRING), *read_jobs(folder / SEPTEMBER)])
    return found | {SIMILAR: similar}


def _scenario(folder: Path, estimates: Mapping[str, float]) -> Scenario:
    jobs: list[Job] = with_estimates(read_jobs(folder / SEPTEMBER), estimates)
    return Scenario(jobs=jobs, nodes=read_nodes(folder / "vc_config.csv"))


def _run(folder: Path, estimates: Estimates, case: Case) -> Result:
    make, source = POLICIES[case.policy]
    scenario = _scenario(folder, estimates[source])
    if case.times:
        jobs = [msgspec.structs.replace(job, checkpoint_every_s=CHECKPOINT_S) for job in scenario.jobs]
        begin, end = jobs[0].submit_s, jobs[-1].submit_s
        rates = FaultRates(mean_days=FaultRates().mean_days / case.times)
        delays = resubmission_delays(folder / SEPTEMBER)
        scenario = msgspec.structs.replace(
            scenario,
            jobs=jobs,
            node_events=draw_faults(scenario.nodes, begin, end, case.seed, rates),
            resubmit_s=(lambda _: 0.0) if case.handled else _Owners(delays, case.seed),
        )
    runs = replay(scenario, partial(make, case.seed)).runs
    times = completion_times(runs)
    return Result(
        float(times.mean()),
        float(np.mean([run.queued for run in runs if run.ended is not None])),
        sum(run.faults for run in runs),
        np.percentile(times, np.arange(1, 100)).round(1).tolist(),
    )


class _Owners:
    """Draws the time after which an owner submits a job again, the same for a job under every policy."""

    def __init__(self, delays: Sequence[float], seed: int) -> None:
        self._delays = delays
        self._seed = seed

    def __call__(self, run: Run) -> float:
        return random.Random(f"{self._seed} {run.job.job_id} {run.faults}").choice(self._delays)


Row = tuple[str, int, Floats, Floats, Floats | None, float]


def _rows(found: Found) -> list[Row]:
    """Return the label, times StepFun's faults; by seed completion, wait and change by handling; runs that faults ended."""
    cases: dict[tuple[str, int], list[Case]] = {}
    for case in found:
        cases.setdefault((case.label, case.times), []).append(case)
    rows: list[Row] = []
    for (label, times), group in cases.items():
        results = [found[case] for case in group]
        unhandled = [found.get(msgspec.structs.replace(case, handled=False)) for case in group]
        changes = [each.mean_s / base.mean_s - 1 for each, base in zip(results, unhandled, strict=True) if base]
        rows.append((
            label,
            times,
            np.array([each.mean_s for each in results]),
            np.array([each.wait_s for each in results]),
            np.array(changes) if group[0].handled and len(changes) == len(group) else None,
            fmean(each.faults for each in results),
        ))  # fmt: skip
    return rows


def _report(found: Found) -> None:
    names = ("JCT mean, s", "queue mean, s", "change by handling, %")
    write_table(
        RESULTS / "standalone.csv",
        (
            "policy",
            "times StepFun's faults",
            "seeds",
            *(f"{name}{part}" for name in names for part in ("", " low", " high")),
            "runs ended by faults",
        ),
        (
            [
                label,
                times,
                len(jct),
                *(round(each, 1) for values in (jct, wait) for each in mean_and_interval(values)),
                *([""] * 3 if change is None else (round(100 * each, 2) for each in mean_and_interval(change))),
                faults,
            ]
            for label, times, jct, wait, change, faults in _rows(found)
        ),
    )


def _draw(found: Found) -> None:
    rows = _rows(found)
    groups = {
        f"{times} x": {row[0]: mean_and_interval(row[2]) for row in rows if row[1] == times}
        for times in TIMES
        if any(row[1] == times for row in rows)
    }
    still = [row for row in rows if not row[1]]
    plain = {
        "mean completion, s, no faults": {"all": {row[0]: mean_and_interval(row[2]) for row in still}},
        "mean wait, s, no faults": {"all": {row[0]: mean_and_interval(row[3]) for row in still}},
    }
    faulty = {"mean completion, s, faults over StepFun's rate": groups} if groups else {}
    plots.bars(RESULTS / "standalone.png", plain | faulty)
    curves = {
        case.label: np.array(result.percentiles_s) for case, result in found.items() if not (case.times or case.seed)
    }
    plots.distributions(RESULTS / "standalone_cdf.png", {"no faults": curves})


def _show(found: Found) -> None:
    table = Table(
        "policy", "x StepFun's faults", "JCT mean, s", "queue mean, s", "change by handling, %", "runs ended by faults"
    )
    for label, times, jct, wait, change, faults in _rows(found):
        cells = ["{:,.0f} ({:,.0f}-{:,.0f})".format(*mean_and_interval(values)) for values in (jct, wait)]
        effect = "" if change is None else "{:+.1f} ({:+.1f} to {:+.1f})".format(*mean_and_interval(100 * change))
        table.add_row(label, str(times), *cells, effect, f"{faults:,.0f}")
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
