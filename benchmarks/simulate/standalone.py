"""Case study 3 of SchedMate (Figure 11): shortest job first by the advisor's estimates, and failed jobs started again at once.

Replays Helios Venus, September 2020, after its April to July has been learnt from. FIFO, SJF and SRTF (oracles), Tiresias, QSSF by plain
boosted trees, and both orders by the advisor's estimates (`processors/advise/predictors`, as in production: models of July, histories
that grow). Then nodes fail at StepFun's rate, ten and fifty times as often: without a failure handler a job waits until its owner submits
it again (drawn from what Venus's users took), with one it is queued at once. Synthetic: the faults, these draws, and that jobs save every
half hour.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import msgspec
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.lasched.september import ADVISOR
from benchmarks.lasched.september import run as predict_september
from benchmarks.simulate import plots
from benchmarks.simulate.intervals import Floats, mean_and_interval
from benchmarks.simulate.options import add_traces, parser
from benchmarks.simulate.resubmissions import resubmission_delays
from benchmarks.simulate.tables import RESULTS
from simulate.estimates import with_estimates
from simulate.faults import FaultRates, draw_faults
from simulate.job import Job, Run
from simulate.outcomes import completion_times, write_table
from simulate.policies.ordered import fifo, sjf, sjf_estimated
from simulate.policies.qssf import Qssf
from simulate.policies.srtf import Srtf
from simulate.policies.tiresias import Tiresias
from simulate.replay import Replayed, Scenario, replay
from simulate.simulation import Policy
from simulate.traces import read_jobs, read_nodes

TREES = "plain LightGBM"
POLICIES: Mapping[str, tuple[Callable[[], Policy], str]] = {
    "FIFO": (fifo, TREES),
    "SJF, true durations": (sjf, TREES),
    "SRTF, true durations": (Srtf, TREES),
    "Tiresias": (Tiresias, TREES),
    "QSSF": (Qssf, TREES),
    "QSSF, advisor": (Qssf, ADVISOR),
    "SchedMate (SJF, advisor)": (sjf_estimated, ADVISOR),
}
"""Each policy, and whose estimates it has."""
FAULTY = ("FIFO", "Tiresias", "QSSF", "SchedMate (SJF, advisor)")
HANDLED = "SchedMate (SJF, advisor)"
TIMES = (1, 10, 50)
CHECKPOINT_S = 1800.0
Estimates = Mapping[str, Mapping[str, float]]
"""By who estimates, seconds by job."""
Figures = tuple[Floats, float, int]
"""Completion times in seconds, mean wait in seconds, jobs that a fault ended."""
Key = tuple[str, int, bool]
"""Policy, times StepFun's rate (0: no faults), whether failures are handled."""


def main() -> None:
    made = parser(".standalone", __doc__, seeds=5)
    add_traces(made)
    wanted = made.parse_args()
    folder = wanted.traces / "helios-venus"
    estimates = _estimates(folder)
    found: dict[Key, list[Figures]] = defaultdict(list)
    for name, (make, who) in track(POLICIES.items(), "without faults", console=Console(stderr=True), transient=True):
        found[name, 0, False].append(_figures(replay(_scenario(folder, estimates[who]), make)))
    with Pool(wanted.processes) as pool:
        answers = pool.imap(partial(_run, folder, estimates), range(wanted.seeds))
        for answer in track(answers, "with faults", wanted.seeds, console=Console(stderr=True), transient=True):
            for key, figures in answer.items():
                found[key].append(figures)
            _report(found)
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


def _run(folder: Path, estimates: Estimates, seed: int) -> dict[Key, Figures]:
    """Return what policies make of the same faults."""
    delays = resubmission_delays(folder / "venus_2020-09_all_vcs.csv.gz")
    answer: dict[Key, Figures] = {}
    for times in TIMES:
        for name in FAULTY:
            make, who = POLICIES[name]
            plain = _scenario(folder, estimates[who])
            jobs = [msgspec.structs.replace(job, checkpoint_every_s=CHECKPOINT_S) for job in plain.jobs]
            begin, end = jobs[0].submit_s, jobs[-1].submit_s
            faults = draw_faults(plain.nodes, begin, end, seed, FaultRates(mean_days=FaultRates().mean_days / times))
            scenario = msgspec.structs.replace(plain, jobs=jobs, node_events=faults)
            for handled in (False, True) if name == HANDLED else (False,):
                resubmit: Callable[[Run], float] = (lambda _: 0.0) if handled else _Owners(delays, seed)
                answer[name, times, handled] = _figures(
                    replay(msgspec.structs.replace(scenario, resubmit_s=resubmit), make)
                )
    return answer


class _Owners:
    """Draws how long each owner takes, the same for a job under every policy."""

    def __init__(self, delays: Sequence[float], seed: int) -> None:
        self._delays = delays
        self._seed = seed

    def __call__(self, run: Run) -> float:
        return random.Random(f"{self._seed} {run.job.job_id} {run.faults}").choice(self._delays)


def _figures(replayed: Replayed) -> Figures:
    waits = [run.queued for run in replayed.runs if run.ended is not None]
    return completion_times(replayed.runs), float(np.mean(waits)), sum(run.faults for run in replayed.runs)


def _label(key: Key) -> str:
    return key[0] + (", failures handled" if key[2] else "")


def _rows(found: Mapping[Key, Sequence[Figures]]) -> list[tuple[Key, int, Floats, Floats, float]]:
    return [
        (
            key,
            len(seeds),
            np.array([float(times.mean()) for times, _, _ in seeds]),
            np.array([wait for _, wait, _ in seeds]),
            float(np.mean([faults for _, _, faults in seeds])),
        )
        for key, seeds in found.items()
    ]


def _report(found: Mapping[Key, Sequence[Figures]]) -> None:
    rows = _rows(found)
    columns = [f"{name}{part}" for name in ("JCT mean, s", "queue mean, s") for part in ("", " low", " high")]
    write_table(
        RESULTS / "standalone.csv",
        ("policy", "times StepFun's faults", "seeds", *columns, "runs ended by faults"),
        (
            [
                _label(key),
                key[1],
                seeds,
                *(round(each, 1) for values in (jct, wait) for each in mean_and_interval(values)),
                faults,
            ]
            for key, seeds, jct, wait, faults in rows
        ),
    )
    groups = {
        f"{times} x": {_label(key): mean_and_interval(jct) for key, _, jct, _, _ in rows if key[1] == times}
        for times in TIMES
    }
    still = [row for row in rows if not row[0][1]]
    plain = {
        "mean completion, s, no faults": {"all": {_label(row[0]): mean_and_interval(row[2]) for row in still}},
        "mean wait, s, no faults": {"all": {_label(row[0]): mean_and_interval(row[3]) for row in still}},
    }
    plots.bars(RESULTS / "standalone.png", {**plain, "mean completion, s, faults over StepFun's rate": groups})
    plots.distributions(
        RESULTS / "standalone_cdf.png",
        {"no faults": {_label(key): seeds[0][0] for key, seeds in found.items() if not key[1]}},
    )


def _show(found: Mapping[Key, Sequence[Figures]]) -> None:
    table = Table("policy", "x StepFun's faults", "JCT mean, s", "queue mean, s", "runs ended by faults")
    for key, _, jct, wait, faults in _rows(found):
        cells = ["{:,.0f} ({:,.0f}-{:,.0f})".format(*mean_and_interval(values)) for values in (jct, wait)]
        table.add_row(_label(key), str(key[1]), *cells, f"{faults:,.0f}")
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
