"""`schedmate import`: jobs of the past into the advisor's history."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated

import typer

from processors.advise.predictors.sacct import COMMAND
from schedmate_records import UserError, counted

from ..advisor.accounting import Accounting, sacct, table
from ..settings.settings import Loaded
from .console import console, print_line

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

_PAI_BEGAN = datetime(2020, 7, 1)  # typer's dates know no zone
"""The trace is of July and August 2020; its tables have no dates."""

File = Annotated[Path, typer.Argument(help="A file whose first line names the columns.")]


@app.callback()
def group() -> None:
    """Import ended jobs into the advisor's history (`advisor.history`). A job that is already there is skipped."""


@app.command("sacct", epilog=f"Example: `{COMMAND} > jobs.txt`, then `schedmate import sacct jobs.txt`")
def from_sacct(context: typer.Context, file: File) -> None:
    """Import the output of Slurm's `sacct`."""
    _import(context, file, sacct)


@app.command("csv")
def from_csv(context: typer.Context, file: File) -> None:
    """Import a table with the columns job, command, directory, started, ended.

    Optional columns are user, branch, state, gpu_utilisation and workload (the output of `schedmate advise --metadata --json`). Times are
    seconds since 1970 or ISO 8601; without a zone they are UTC. Example: `schedmate import csv jobs.csv`
    """
    _import(context, file, table)


@app.command("pai")
def from_pai(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(help="Directory of the tables: pai_job_table.csv, pai_job_table.header, …", metavar="DIR")
    ],
    began: Annotated[
        datetime, typer.Option(help="Start of the trace in UTC, to which its times are relative.", formats=["%Y-%m-%d"])
    ] = _PAI_BEGAN,
) -> None:
    """Import the terminated jobs of Alibaba's PAI trace (cluster-trace-gpu-v2020).

    The tables job, task and group tag are required; pai_sensor_table adds the utilisation of GPUs. They contain no command lines, so
    `schedmate advise train` can learn from these jobs, but no new job is found to be similar to them.

    Example: `schedmate import pai cluster-trace-gpu-v2020/data`
    """
    from rich.progress import Progress

    from ..advisor.history_file import history_file
    from ..advisor.pai_tables import past_jobs, size

    loaded: Loaded = context.obj
    with (
        history_file(loaded.settings.advisor.history) as history,
        Progress(console=console(), transient=True) as progress,
    ):
        task = progress.add_task("reading tables", total=size(folder))
        jobs = past_jobs(folder, began.replace(tzinfo=UTC).timestamp(), lambda read: progress.advance(task, read))
        new, held = history.add_all(jobs), history.count()
    print_line(f"{counted(new, 'new job')}; the history holds {held}")


def _import(context: typer.Context, file: Path, read: Callable[[Iterable[str]], Accounting]) -> None:
    from rich.progress import Progress

    from ..advisor.history_file import history_file

    loaded: Loaded = context.obj
    try:
        with (
            file.open(encoding="utf-8", errors="replace", newline="") as stream,
            history_file(loaded.settings.advisor.history) as history,
            Progress(console=console(), transient=True) as progress,
        ):
            task = progress.add_task("reading jobs", total=file.stat().st_size)
            jobs = read(_counted(stream, lambda size: progress.advance(task, size)))
            new, held = history.add_all(jobs), history.count()
    except OSError as error:
        raise UserError(f"expected a readable file at {file}: {error.strerror}") from error
    print_line(f"{counted(new, 'new job')}; the history holds {held}")
    if jobs.unfinished:
        print_line(
            f"passed over {counted(jobs.unfinished, 'row')} of steps, or of jobs that never ran or have not ended"
        )
    if jobs.skipped:
        print_line(f"passed over {counted(jobs.skipped, 'row')} that could not be read")


def _counted(stream: IO[str], advance: Callable[[int], None]) -> Iterable[str]:
    for line in stream:
        advance(len(line))
        yield line
