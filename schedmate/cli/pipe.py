"""`schedmate pipe`: a job's output, passed through and shipped."""

import time
from pathlib import Path
from typing import Annotated

import typer

from schedmate import logging
from schedmate.cli import fail
from schedmate.settings import Loaded
from streams.producers.chunker import ChunkLimits
from streams.producers.environment import UnknownJob, identify
from streams.producers.pipe import end_like, filter_through, fresh_name, run_command
from streams.producers.shipping_process import PipeSettings, ShippingRun
from streams.transport import Producer

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command(context_settings={"allow_interspersed_args": False})
def command(
    context: typer.Context,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND ...]", help="ShippingRun this; without it, read standard input."),
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
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the shipping side writes its own log.", show_default="nowhere"),
    ] = None,
) -> None:
    """Pass a job's output through, untouched and at once, and ship a copy to Kafka.

    The job never waits for us: while the broker is away, lines go to disk (producer.spool_mb) and are sent later, in order; past that
    they are counted, and the count is sent. With a command, its stdout and stderr stay apart, its exit code and signals are kept.

    Examples: `python train.py 2>&1 | schedmate pipe --job 4711`, and in a Slurm script: `srun schedmate pipe -- python train.py`
    """
    loaded: Loaded = context.obj
    settings = loaded.settings
    try:
        identity = identify(job=job, attempt=attempt, node=node, rank=rank)
    except UnknownJob as error:
        fail(str(error))
        return
    if log is not None:
        logging.configure(settings.service)
    how = PipeSettings(
        identity=identity,
        name=fresh_name(identity.node),
        spool=str(settings.producer.directory / "spool"),
        spool_bytes=settings.producer.spool_mb << 20,
        hold=settings.producer.hold_seconds,
        close_timeout=settings.producer.close_seconds,
        limits=ChunkLimits(settings.producer.chunk_lines, seconds=settings.producer.chunk_seconds),
        log=None if log is None else str(log),
        run=ShippingRun(time.time(), arguments or ()) if identity.whole else None,
    )

    def connect() -> Producer:
        # Called in the shipping process: what passes bytes through never loads a Kafka client.
        from schedmate.connections import kafka_connection
        from streams.kafka import KafkaProducer

        return KafkaProducer(kafka_connection(settings.kafka), settings.kafka.compression, linger_ms=0)

    end_like(run_command(arguments, how, connect) if arguments else filter_through(how, connect))
