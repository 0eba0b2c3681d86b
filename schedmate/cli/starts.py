"""`schedmate starts`: when will each job that waits start?"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from schedmate.cli.console import say, warn
from schedmate.cli.listing import Csv, Json, print_rows
from schedmate.settings import Loaded

if TYPE_CHECKING:
    from schedmate.starts import Expected, Known
    from scheduler_bridge.actuators import JobView

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

COLUMNS = ("job", "user", "nodes", "gpus_a_node", "expected_s", "low_s", "high_s", "chance")
SHOWN = ("job", "user", "GPUs", "starts in", "9 in 10 times between", "remark")


@app.command()
def command(
    context: typer.Context,
    jobs: Annotated[list[str] | None, typer.Argument(help="Only these jobs; none: all that wait.")] = None,
    *,
    futures: Annotated[int, typer.Option(min=20, max=5000, help="How many futures are played.")] = 100,
    seed: Annotated[int, typer.Option(help="Of the durations.")] = 0,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Say when each job that waits will start: a range, not a promise.

    The queue, as the scheduler (`bridge.scheduler`) shows it now, is played forward many times, by priority and with backfilling.
    How long jobs still take comes from Redis, where their progress and the advisor's estimates stand. Where nothing is known, it comes
    from how long they have run and from their limits, and the range is wide. Jobs that will be submitted later are not known: those of
    higher priority delay what is said here.

    Examples: `schedmate starts`, `schedmate starts 4711 --json`
    """
    from schedmate.cli.bridge import actuator
    from schedmate.starts import present
    from simulate.starts import start_ranges

    loaded: Loaded = context.obj
    queue = actuator(loaded.settings.bridge, loaded.settings.slurm.clusters).queue()
    now = time.time()
    with _known(loaded) as known:
        made = present(queue, known, now)
    with _progress(futures if made.waiting else 0) as advance:
        ranges = {each.job: each for each in start_ranges(made, futures=futures, seed=seed, progress=advance)}
    by_job = {each.view.job: each for each in queue.waiting}
    for missing in sorted(set(jobs or ()) - set(ranges)):
        warn(f"job {missing} does not wait in the queue")
    wanted = [each for each in ranges.values() if not jobs or each.job in jobs]
    if as_json or as_csv:
        rows = [
            (one.job, by_job[one.job].view.user, by_job[one.job].need.nodes, by_job[one.job].need.gpus,
             *(each if math.isfinite(each) else None for each in (one.expected, one.low, one.high)), one.chance)
            for one in wanted
        ]  # fmt: skip
        print_rows(COLUMNS, rows, as_json=as_json, as_csv=as_csv)
        return
    shown = [
        (
            one.job,
            by_job[one.job].view.user,
            f"{by_job[one.job].need.nodes * by_job[one.job].need.gpus:g}",
            _when(one.expected),
            f"{_when(one.low)} and {_when(one.high)}" if one.chance else "",
            "" if one.chance else by_job[one.job].view.word,
        )
        for one in wanted
    ]
    print_rows(SHOWN, shown, empty="no job waits")
    if shown:
        say("\nJobs that are submitted later are not known; those of higher priority delay what is said here.")


def _when(seconds: float) -> str:
    from schedmate.remaining import long

    if math.isinf(seconds):
        return "not known"
    return "now" if seconds < 1 else long(seconds)


@contextmanager
def _known(loaded: Loaded) -> "Iterator[Known]":
    """Yield what tells how long jobs take: Redis, where there is one."""
    from schedmate.services.sink import redis_client
    from schedmate.starts import Expected
    from sinks.redis import read_job

    settings = loaded.settings.redis
    if not settings.url:
        yield lambda _: None
        return
    with redis_client(settings) as client:

        def known(view: "JobView") -> "Expected | None":
            status = read_job(client, view.job, prefix=settings.prefix)
            if status is None or status.estimate_attempt != view.attempt or status.estimate_time is None:
                return None
            if status.estimate_remaining_s is not None:
                ends = (status.estimate_remaining_s, status.estimate_remaining_low_s, status.estimate_remaining_high_s)
                return Expected(*ends, time=status.estimate_time, whole=False)
            if status.estimate_duration_s is None:
                return None
            ends = (status.estimate_duration_s, status.estimate_low_s, status.estimate_high_s)
            return Expected(*ends, time=status.estimate_time, whole=True)

        yield known


@contextmanager
def _progress(futures: int) -> Iterator[Callable[[], None]]:
    """Show a bar on standard error: its value is called after each future."""
    from rich.progress import Progress

    from schedmate.safe_console import SafeConsole

    with Progress(console=SafeConsole(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("playing the queue forward", total=futures)
        yield lambda: bar.advance(task)
