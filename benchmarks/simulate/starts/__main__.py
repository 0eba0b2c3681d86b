"""How right `schedmate starts` is: what waiting jobs would have been told, against the starts that came. Helios Venus, September 2020.

Replayed: jobs, durations, users, nodes. The queue is looked at every so many hours, and its jobs are told by the code of the command.
Assumed, for no trace here holds it: that jobs start by submission with EASY backfilling by limits; the limits, by two rules; and that a
third of the running jobs show progress, with the error that was measured on logs. What the advisor says of a duration rests on the last
five jobs of the user with as many GPUs. "limits alone" takes each job for as long as its limit, as `squeue --start` does.
"""

from functools import partial
from multiprocessing import Pool

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.simulate.options import add_traces, parser
from benchmarks.simulate.tables import RESULTS
from schedmate.starts import present
from simulate.outcomes import write_table
from simulate.starts import start_ranges
from simulate.traces import read_jobs, read_nodes

from .knowledge import Intervals, advised, knowledge, limits_alone
from .looks import HOUR, Case, made_cases, replayed
from .scores import COLUMNS, StartForecast, rows


def main() -> None:
    made = parser(".starts", __doc__, seeds=None)
    add_traces(made)
    made.add_argument("--every-hours", type=float, default=12, help="between two looks at the queue (default 12)")
    made.add_argument("--futures", type=int, default=100, help="that are played at each look (default 100)")
    wanted = made.parse_args()
    folder = wanted.traces / "helios-venus"
    jobs = read_jobs(folder / "venus_2020-09_all_vcs.csv.gz")
    tell = partial(start_forecasts, advised(jobs), every_s=wanted.every_hours * HOUR, futures=wanted.futures)
    cases = made_cases(jobs, read_nodes(folder / "vc_config.csv"))
    found: list[StartForecast] = []
    with Pool(wanted.processes) as pool:
        for each in track(
            pool.imap(tell, cases), "replaying", len(cases), console=Console(stderr=True), transient=True
        ):
            found += each
    scored = rows(found)
    write_table(RESULTS / "starts.csv", COLUMNS, scored)
    table = Table(*COLUMNS, title=f"Venus, September: a look every {wanted.every_hours:g} h, {wanted.futures} futures")
    for row in scored:
        table.add_row(*map(str, row))
    Console(width=200).print(table)


def start_forecasts(intervals: Intervals, case: Case, every_s: float, futures: int) -> list[StartForecast]:
    """Return what the waiting jobs of a virtual cluster are told at each look, by all that may be known, and what came."""
    looks, started = replayed(case, every_s)
    found = []
    for look in looks:
        knows = [(name, known, futures) for name, known in knowledge(look, intervals).items()]
        for name, known, played in [("limits alone", limits_alone(look), 1), *knows]:
            found += [
                StartForecast(
                    case.limits, name, each.job, each.expected, each.low, each.high, started[each.job] - look.now
                )
                for each in start_ranges(present(look.queue, known, look.now), futures=played)
            ]
    return found


if __name__ == "__main__":
    main()
