"""How right `schedmate starts` is: what waiting jobs would have been told, against the starts that came. Helios Venus, September 2020.

Replayed: jobs, durations, users, nodes. The queue is looked at every so many hours, and its jobs are told by the code of the command.
Assumed, for no trace here holds it: that jobs start by submission with EASY backfilling by limits; the limits, by two rules; and that a
third of the running jobs show progress, with the error that was measured on logs. What the advisor says of a duration rests on the last
five jobs of the user with as many GPUs. "limits alone" takes each job for as long as its limit, as `squeue --start` does.
The smallest virtual clusters come first. The result so far is written after each of them, and a run that was interrupted goes on where it
was.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.simulate.cases import Kept, measure
from benchmarks.simulate.options import add_fresh, add_traces, parser
from benchmarks.simulate.tables import CASES, RESULTS
from schedmate.advisor.starts import present
from schedmate.simulate.outcomes import write_table
from schedmate.simulate.starts import start_ranges
from schedmate.simulate.traces import read_jobs, read_nodes

from .knowledge import Intervals, advised, knowledge, limits_alone
from .looks import HOUR, Case, made_cases, replayed
from .scores import COLUMNS, StartForecast, rows


class Asked(msgspec.Struct, frozen=True):
    """A virtual cluster under a rule of limits, looked at every so many hours."""

    limits: str
    partition: str
    every_hours: float
    futures: int


class Told(msgspec.Struct, frozen=True):
    """What its jobs were told."""

    forecasts: list[StartForecast]


Found = Mapping[Asked, Told]


def main() -> None:
    made = parser(".starts", __doc__, seeds=None)
    add_traces(made)
    add_fresh(made)
    made.add_argument("--every-hours", type=float, default=12, help="between two looks at the queue (default 12)")
    made.add_argument("--futures", type=int, default=100, help="that are played at each look (default 100)")
    wanted = made.parse_args()
    _, cases = _venus(wanted.traces)
    asked = [
        Asked(*key, wanted.every_hours, wanted.futures) for key in sorted(cases, key=lambda key: len(cases[key].jobs))
    ]
    kept = Kept(CASES / "starts.jsonl", Asked, Told, fresh=wanted.fresh)
    found = measure(kept, asked, partial(_run, wanted.traces), wanted.processes, _report)
    table = Table(*COLUMNS, title=f"Venus, September: a look every {wanted.every_hours:g} h, {wanted.futures} futures")
    for row in _rows(found):
        table.add_row(*map(str, row))
    Console(width=200).print(table)


def _run(traces: Path, asked: Asked) -> Told:
    intervals, cases = _venus(traces)
    case = cases[asked.limits, asked.partition]
    return Told(start_forecasts(intervals, case, asked.every_hours * HOUR, asked.futures))


@cache
def _venus(traces: Path) -> tuple[Intervals, Mapping[tuple[str, str], Case]]:
    """Return what the advisor says of each job, and the cases by rule of limits and virtual cluster."""
    folder = traces / "helios-venus"
    jobs = read_jobs(folder / "venus_2020-09_all_vcs.csv.gz")
    cases = made_cases(jobs, read_nodes(folder / "vc_config.csv"))
    return advised(jobs), {(case.limits, case.jobs[0].partition): case for case in cases}


def _report(found: Found) -> None:
    write_table(RESULTS / "starts.csv", COLUMNS, _rows(found))


def _rows(found: Found) -> list[Sequence[object]]:
    return rows(each for told in found.values() for each in told.forecasts)


def start_forecasts(intervals: Intervals, case: Case, every_s: float, futures: int) -> list[StartForecast]:
    """Return what the waiting jobs of a virtual cluster are told at each look, by all that may be known, and what came."""
    looks, started = replayed(case, every_s)
    found = []
    for look in looks:
        knows = [(name, known, futures) for name, known in knowledge(look, intervals).items()]
        for name, known, played in [("limits alone", limits_alone(look), 1), *knows]:
            found += [
                StartForecast(
                    limits=case.limits,
                    known=name,
                    job=each.job,
                    now=look.now,
                    expected=_finite(each.expected),
                    low=_finite(each.low),
                    high=_finite(each.high),
                    waited=started[each.job] - look.now,
                )
                for each in start_ranges(present(look.queue, known, look.now), futures=played)
            ]
    return found


def _finite(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None


if __name__ == "__main__":
    main()
