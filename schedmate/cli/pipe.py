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
        typer.Argument(metavar="[-- COMMAND ...]", help="Command to run; without it, standard input is read."),
    ] = None,
    *,
    job: Annotated[
        str | None, typer.Option(help="The scheduler's job id.", show_default="SLURM_JOB_ID, RAY_JOB_ID, ...")
    ] = None,
    attempt: Annotated[
        int | None, typer.Option(min=0, help="Number of earlier restarts.", show_default="SLURM_RESTART_COUNT")
    ] = None,
    rank: Annotated[
        int | None, typer.Option(min=0, help="Global rank.", show_default="RANK, MPI's, SLURM_PROCID, else 0")
    ] = None,
    node: Annotated[
        str | None, typer.Option(help="Node name that the scheduler uses for this host.", show_default="host name")
    ] = None,
    socket: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Send the lines to the node's collector at this socket.",
            show_default=f"{VARIABLE}, producer.socket, else /run/schedmate/collector.sock where that exists and no broker is set",
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Log file of the shipping process.", show_default="none"),
    ] = None,
) -> None:
    """Pass a job's output through unchanged and without delay, and ship a copy to this node's collector or to Kafka.

    The collector (`schedmate collect --socket PATH`) accepts only lines of the user's own jobs. A pipe with its own Kafka rights
    (kafka.brokers) can write lines for any job.

    The job never waits. While the broker is unreachable, lines go to disk (producer.spool_mb) and are sent later, in order; beyond that
    limit they are dropped, and their number is sent. A command keeps separate stdout and stderr, its exit code and its signals.

    Examples: `python train.py 2>&1 | schedmate pipe --job 4711`, and in a Slurm script: `srun schedmate pipe -- python train.py`
    """
    given = {"job": job, "attempt": attempt, "rank": rank, "node": node, "socket": socket, "log": log}
    options = [f"--{name}={value}" for name, value in given.items() if value is not None]
    start([*options, "--", *(arguments or ())])
