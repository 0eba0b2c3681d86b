"""`schedmate pipe`: a job's output, passed through and shipped."""

from pathlib import Path
from typing import Annotated

import typer

from streams.producers.collector_socket import VARIABLE

from ..pipe import start

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command(context_settings={"allow_interspersed_args": False})
def command(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND ...]", help="Run this; without it, read standard input."),
    ] = None,
    *,
    job: Annotated[
        str | None, typer.Option(help="The scheduler's job id.", show_default="SLURM_JOB_ID, RAY_JOB_ID, ...")
    ] = None,
    attempt: Annotated[
        int | None, typer.Option(min=0, help="Restarts before this one.", show_default="SLURM_RESTART_COUNT")
    ] = None,
    rank: Annotated[
        int | None, typer.Option(min=0, help="Global rank.", show_default="RANK, MPI's, SLURM_PROCID, else 0")
    ] = None,
    node: Annotated[
        str | None, typer.Option(help="The scheduler's name of this host.", show_default="host name")
    ] = None,
    socket: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Hand the lines to the node's collector at this socket.",
            show_default=f"{VARIABLE}, producer.socket, else /run/schedmate/collector.sock where that exists and no broker is set",
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the shipping side writes its own log.", show_default="nowhere"),
    ] = None,
) -> None:
    """Pass a job's output through, untouched and at once, and ship a copy to this node's collector, or to Kafka.

    The collector (`schedmate collect --socket PATH`) takes only lines of the user's own jobs. With Kafka rights of its own, as where
    kafka.brokers is set, a pipe can write under any job's id.

    The job never waits for us: while the broker is away, lines go to disk (producer.spool_mb) and are sent later, in order; past that
    they are counted, and the count is sent. With a command, its stdout and stderr stay separate, its exit code and signals are kept.

    Examples: `python train.py 2>&1 | schedmate pipe --job 4711`, and in a Slurm script: `srun schedmate pipe -- python train.py`
    """
    given = {"job": job, "attempt": attempt, "rank": rank, "node": node, "socket": socket, "log": log}
    options = [f"--{name}={value}" for name, value in given.items() if value is not None]
    start([*options, "--", *(arguments or ())])
