"""`schedmate watch`: one log, live."""

from pathlib import Path
from typing import Annotated

import typer

from ..settings.settings import Loaded
from .console import print_line

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A growing log, or - for standard input.")],
    every: Annotated[float, typer.Option(help="Seconds between two reports of progress.", min=0.0)] = 5.0,
) -> None:
    """Follow one log live in one process: print progress every few seconds, and a verdict as soon as its line appears. Ctrl-C stops it.

    Examples: `schedmate watch train.log`, `python train.py 2>&1 | schedmate watch -`
    """
    import threading

    from ..analysis.watch_log import watch
    from ..assembly import job_processor
    from ..services.service import service

    loaded: Loaded = context.obj
    with service(loaded.settings, "watch") as running:
        stop: threading.Event = running.stop
        for line in watch(file, job_processor(loaded.settings.processors, sections=loaded.plugins), every, stop.is_set):
            print_line(line)
