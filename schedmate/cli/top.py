"""`schedmate top`: all jobs, or those of some logs, live, in a terminal."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings.settings import Loaded, Settings, SettingsError

if TYPE_CHECKING:
    from processors.diagnose import Signature
    from sinks.redis.status import JobStatus

    from ..top.top import Paces, View

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Growing logs or pipes; - for standard input. Without it, all jobs in Redis are shown."),
    ] = None,
    *,
    every: Annotated[float, typer.Option(min=0.2, help="Seconds between two updates.")] = 2.0,
) -> None:
    """Watch jobs live: state, step, time left, step time with its curve, GPUs, and events.

    It reads Redis, or the given logs; these need no server. When a pipe ends, the last state stays on the screen. After `q`, pipes are
    still read, so that the programs that write to them do not stop.

    Keys: `s` changes the sort column, `f` shows all jobs, running jobs or jobs with problems, `/` searches, `j` and `k` or arrows move,
    Enter shows the details of a job, Escape goes back, `q` quits.

    Examples: `schedmate top`, `python train.py 2>&1 | schedmate top -`, `schedmate top logs/*.log --every 10`
    """
    loaded: Loaded = context.obj
    if files:
        _logs(files, loaded, every)
    else:
        _redis(loaded.settings, every)


def _redis(loaded: Settings, every: float) -> None:
    from sinks import SinkUnavailable
    from sinks.redis.read_state import read_jobs

    from ..assembly import signatures_by_name
    from ..services.sink import redis_client
    from ..top.top import Paces, View

    settings = loaded.redis
    if not settings.url:
        raise SettingsError(
            "the current state is kept in Redis, and redis.url is empty: set it, try `schedmate web`, or give a log: `schedmate top -`"
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SettingsError(
            "expected a terminal: `schedmate status --json` is for programs, and `schedmate top -` reads a log from a pipe"
        )
    paces = Paces()
    with redis_client(settings) as client:
        jobs: list[JobStatus] = []

        def look() -> tuple[Sequence["JobStatus"], str]:
            try:
                # Jobs that one look reads, those updated last.
                jobs[:] = read_jobs(client, 1000, prefix=settings.prefix)
            except SinkUnavailable as error:
                return jobs, str(error)
            paces.update(jobs)
            return jobs, ""

        _watch(View(), look, paces, every, signatures_by_name(loaded.processors))


def _logs(files: list[Path], loaded: Loaded, every: float) -> None:
    from streams.producers.stored import STANDARD_INPUT

    from ..analysis.local_jobs import LocalJobs
    from ..assembly import job_processor, signatures_by_name
    from ..top.top import View
    from .console import warn
    from .status import show_all, show_one

    if not sys.stdout.isatty():
        raise SettingsError("expected a terminal: `schedmate analyze --format json` is for programs")
    if STANDARD_INPUT in files and sys.stdin.isatty():
        raise SettingsError("expected a log on standard input: `python train.py 2>&1 | schedmate top -`")
    processors = loaded.settings.processors
    with LocalJobs(files, job_processor(processors, sections=loaded.plugins)) as local:
        known = signatures_by_name(processors)
        _watch(View(details=len(files) == 1), lambda: (local.jobs(), local.problem), local.paces, every, known)
        if local.writing:
            warn("still reading, so that what writes can go on; Ctrl-C stops both")
            with suppress(KeyboardInterrupt):
                local.finish()
    jobs = local.jobs()
    if len(jobs) == 1:
        show_one(jobs[0], local.paces.wide(jobs[0].job), known)
    else:
        show_all(jobs)
    if local.problem:
        warn(local.problem)
        raise typer.Exit(2)


def _watch(
    view: "View",
    look: Callable[[], tuple[Sequence["JobStatus"], str]],
    paces: "Paces",
    every: float,
    signatures: Mapping[str, "Signature"],
) -> None:
    """Show what `look` returns, jobs and what is wrong with their source, until the person quits."""
    from rich.live import Live

    from ..top.keyboard import pressed, single_keys
    from ..top.top import draw
    from .safe_console import SafeConsole
    from .status import details, note

    console, reason, about = SafeConsole(), partial(note, with_reason=True), partial(details, signatures=signatures)
    with single_keys() as terminal, Live(console=console, screen=True, auto_refresh=False) as live:
        looked, jobs, problem = 0.0, *look()
        try:
            while not view.over:
                if time.monotonic() >= looked + every:
                    jobs, problem = look()
                    looked = time.monotonic()
                    view = view.with_row_in(len(view.chosen(jobs)))
                size = (console.width, console.height)
                live.update(
                    draw(view, jobs, paces, size=size, now=time.time(), note=reason, details=about, problem=problem),
                    refresh=True,
                )
                for key in pressed(terminal, max(0.05, looked + every - time.monotonic())):
                    view = view.press(key).with_row_in(len(view.chosen(jobs)))
        except (KeyboardInterrupt, EOFError):
            return
