"""`schedmate export`: a job's numbers, for TensorBoard or MLflow."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings.settings import Loaded
from ..terminal import one_line
from .console import print_line
from .extras import require

if TYPE_CHECKING:
    from ..exports import Series

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

Job = Annotated[str, typer.Argument(help="The job's id.")]
Attempt = Annotated[int | None, typer.Option(min=0, help="Attempt.", show_default="the newest that reported")]


@app.callback()
def export() -> None:
    """Export a job's loss, step time and throughput from ClickHouse to TensorBoard or MLflow. The job itself needs neither.

    Examples: `schedmate export tensorboard 4711 runs/4711`, `schedmate export mlflow 4711 --to http://mlflow:5000`
    """


@app.command()
def tensorboard(
    context: typer.Context,
    job: Job,
    directory: Annotated[Path, typer.Argument(help="Directory for the event file.")],
    *,
    attempt: Attempt = None,
) -> None:
    """Write an event file for TensorBoard.

    Example: `schedmate export tensorboard 4711 runs/4711`
    """
    require("tensorboardX")
    from ..exports.tensorboard import write_events

    with _series(context, job, attempt) as series:
        count = write_events(series, directory)
    print_line(
        f"{count} values of job {one_line(series.job)}, attempt {series.attempt}, in {directory}: tensorboard --logdir {directory}"
    )


@app.command()
def mlflow(
    context: typer.Context,
    job: Job,
    *,
    to: Annotated[str, typer.Option(metavar="ADDRESS", help="Address of the tracking server.")],
    experiment: Annotated[str, typer.Option(help="Experiment; created if it does not exist.")] = "schedmate",
    attempt: Attempt = None,
) -> None:
    """Write the metrics to MLflow as a new run.

    Example: `schedmate export mlflow 4711 --to http://mlflow:5000`
    """
    require("mlflow")
    from ..exports.mlflow import write_run

    with _series(context, job, attempt) as series:
        run = write_run(series, to, experiment)
    print_line(f"job {one_line(series.job)}, attempt {series.attempt}: run {run} of experiment {experiment}")


@contextmanager
def _series(context: typer.Context, job: str, attempt: int | None) -> "Iterator[Series]":
    require("clickhouse_connect")
    from ..exports import read_series
    from ..services.sink import clickhouse_reader

    loaded: Loaded = context.obj
    with closing(clickhouse_reader(loaded.settings.clickhouse)()) as client:
        yield read_series(client, job, attempt)
