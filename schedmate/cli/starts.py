"""`schedmate starts`: when will each job that waits start?"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings.settings import Loaded
from ..times import moment_at, parse_since
from .console import print_line, warn
from .listing import Csv, Json, Since, print_rows

if TYPE_CHECKING:
    from scheduler_bridge.schedulers import WaitingJob

    from ..simulate.starts import StartRange

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

COLUMNS = ("job", "user", "waits_since", "nodes", "gpus_a_node", "expected_s", "low_s", "high_s", "chance")
SHOWN = ("job", "user", "GPUs", "starts in", "9 in 10 times between", "remark")


@app.command()
def command(
    context: typer.Context,
    jobs: Annotated[list[str] | None, typer.Argument(help="Jobs to estimate; by default all waiting jobs.")] = None,
    *,
    since: Since = "",
    keep: Annotated[
        bool, typer.Option("--keep", help="Also write the estimates to Kafka, to compare them with the actual starts.")
    ] = False,
    every: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", min=1, help="Run as a service: estimate and keep every SECONDS; print nothing."
        ),
    ] = None,
    futures: Annotated[int, typer.Option(min=20, max=5000, help="Number of simulations.")] = 100,
    seed: Annotated[int, typer.Option(help="Random seed of the durations.")] = 0,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Estimate a range for the start time of each waiting job.

    The current queue of the scheduler (`bridge.scheduler`) is simulated many times, by priority and with backfilling. Remaining times
    come from the progress and the advisor's estimates in Redis. For jobs without either, they come from the time run so far and from the
    time limit, and the range is wide. Jobs that are submitted later with a higher priority can delay these starts.

    With `--keep` the estimates are written to Kafka. The page of a waiting job shows its estimate, and `schedmate query starts` shows how
    often actual starts were in the range. With `--every` the command runs as a service and repeats this for all jobs.

    Examples: `schedmate starts`, `schedmate starts 4711 --json`, `schedmate starts --since 1h`, `schedmate starts --every 300`
    """
    from ..advisor.known_durations import known_durations
    from ..advisor.starts import present
    from ..plugins.schedulers import actuator
    from ..simulate.starts import start_ranges

    loaded: Loaded = context.obj
    if every is not None:
        if jobs or since or as_json or as_csv:
            raise typer.BadParameter("it is for all jobs, and prints nothing", param_hint="--every")
        _service(loaded, every, futures)
        return
    queue = actuator(loaded).queue()
    now = time.time()
    begin = parse_since(since, now) if since else -math.inf
    with known_durations(loaded.settings.redis) as known:
        made = present(queue, known, now)
    with _progress(futures if made.waiting else 0) as advance:
        ranges = {each.job: each for each in start_ranges(made, futures=futures, seed=seed, progress=advance)}
    by_job = {each.view.job: each for each in queue.waiting}
    for missing in sorted(set(jobs or ()) - set(ranges)):
        warn(f"job {missing} does not wait in the queue")
    wanted = [each for each in ranges.values() if (not jobs or each.job in jobs) and by_job[each.job].since >= begin]
    if keep:
        _keep(loaded, wanted, by_job, now)
    if as_json or as_csv:
        rows = [
            (one.job, by_job[one.job].view.user, moment_at(by_job[one.job].since), by_job[one.job].need.nodes, by_job[one.job].need.gpus,
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
        print_line("\nJobs that are submitted later are not known; those of higher priority delay these starts.")


def _when(seconds: float) -> str:
    from ..advisor.remaining import long

    if math.isinf(seconds):
        return "not known"
    return "now" if seconds < 1 else long(seconds)


def _keep(loaded: Loaded, ranges: "Iterable[StartRange]", waiting: "Mapping[str, WaitingJob]", now: float) -> None:
    from streams.transport import write_records

    from ..advisor.start_estimates import estimates
    from ..assembly import producer_factory

    with closing(producer_factory(loaded.settings)()) as producer:
        write_records(producer, estimates(ranges, waiting, now))


def _service(loaded: Loaded, every_s: float, futures: int) -> None:
    from ..advisor.known_durations import known_durations
    from ..assembly import producer_factory
    from ..connections import kafka_connection, permitted, wait_for_broker
    from ..plugins.schedulers import actuator
    from ..services.service import service
    from ..services.starts import StartsService

    settings = loaded.settings
    scheduler = actuator(loaded)
    with service(settings, "starts") as running, known_durations(settings.redis) as known:
        running.telemetry.health = kafka_connection(settings.kafka).problems
        connection = permitted(settings.kafka, "starts", running.stop)
        producer = wait_for_broker(producer_factory(settings), running.stop)
        starts = StartsService(scheduler, known, producer, every_s=every_s, futures=futures, stop=running.stop)
        running.telemetry.health = lambda: [*connection.problems(), *starts.problems()]
        outages = (starts.scheduler, starts.redis, starts.kafka)
        running.telemetry.export(starts.metrics, *(each.metrics for each in outages))
        try:
            starts.run()
        finally:
            producer.close()


@contextmanager
def _progress(futures: int) -> Iterator[Callable[[], None]]:
    """Show a bar on standard error: its value is called after each future."""
    from rich.progress import Progress

    from .safe_console import SafeConsole

    with Progress(console=SafeConsole(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("playing the queue forward", total=futures)
        yield lambda: bar.advance(task)
