"""`schedmate top`: all jobs, live, in a terminal."""

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from schedmate.settings import Loaded, SettingsError

if TYPE_CHECKING:
    from sinks.redis import JobStatus

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

MOST_JOBS = 1000
"""Jobs that one look reads, those updated last."""


@app.command()
def command(
    context: typer.Context,
    *,
    every: Annotated[float, typer.Option(min=0.2, help="Seconds between two looks.")] = 2.0,
) -> None:
    """Watch all jobs live: state, step, time left, step time with its curve, GPUs, and what happened. It reads Redis.

    Keys: `s` sorts by another column, `f` shows all, running or troubled jobs, `/` searches, `j` and `k` or arrows move, Enter shows
    all that is known of a job, Escape goes back, `q` quits.

    Examples: `schedmate top`, `schedmate top --every 10`
    """
    from rich.live import Live

    from schedmate.cli.status import details, note
    from schedmate.keyboard import pressed, single_keys
    from schedmate.safe_console import SafeConsole
    from schedmate.services.sink import redis_client
    from schedmate.top import Paces, View, draw
    from sinks import SinkUnavailable
    from sinks.redis import read_jobs

    loaded: Loaded = context.obj
    settings = loaded.settings.redis
    if not settings.url:
        raise SettingsError("the present state stands in Redis, and redis.url is empty: set it, or try `schedmate web`")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SettingsError("expected a terminal: `schedmate status --json` is for programs")
    console, view, paces, looked, problem = SafeConsole(), View(), Paces(), 0.0, ""
    jobs: list[JobStatus] = []
    with (
        redis_client(settings) as client,
        single_keys(),
        Live(console=console, screen=True, auto_refresh=False) as live,
    ):
        try:
            while not view.over:
                if time.monotonic() >= looked + every or not looked:
                    try:
                        jobs, problem = read_jobs(client, MOST_JOBS, prefix=settings.prefix), ""
                        paces.take(jobs)
                    except SinkUnavailable as error:
                        problem = str(error)
                    looked = time.monotonic()
                    view = view.within(len(view.chosen(jobs)))
                size = (console.width, console.height)
                live.update(
                    draw(view, jobs, paces, size=size, now=time.time(), note=note, details=details, problem=problem),
                    refresh=True,
                )
                for key in pressed(max(0.05, looked + every - time.monotonic())):
                    view = view.press(key).within(len(view.chosen(jobs)))
        except (KeyboardInterrupt, EOFError):
            return
