"""`schedmate watch-scheduler`: job events from a scheduler."""

import time
from functools import partial
from pathlib import Path
from threading import Event
from typing import Annotated

import typer

from resilience import Outage, retry
from schedmate.settings import Loaded
from streams.transport import Producer, TransportError

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")

SILENT_S = 30.0
"""Without an answer from the scheduler for so long the watcher is unwell: three commands that ran into their limit of ten seconds."""


@app.callback()
def watch_scheduler() -> None:
    """Ship what a scheduler does with its jobs to Kafka. Example: `schedmate watch-scheduler slurm`."""


@app.command()
def slurm(
    context: typer.Context,
    interval: Annotated[
        float | None,
        typer.Option(min=0.05, help="Seconds between looks.", show_default="producer.scheduler_seconds"),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What was told already.", show_default="slurm-events.json in producer.directory"
        ),
    ] = None,
) -> None:
    """Watch Slurm's list of jobs, and ship what changes: submitted, started, packed, unpacked, requeued, ended.

    It needs Slurm's client commands and the right to see all jobs. Run one for each cluster.

    Example: `schedmate watch-scheduler slurm --interval 2`
    """
    from schedmate.service import service
    from streams.producers.slurm_events import SlurmWatcher

    loaded: Loaded = context.obj
    settings = loaded.settings
    file = checkpoint or settings.producer.directory / "slurm-events.json"
    with service(settings, "watch-scheduler") as running:
        file.parent.mkdir(parents=True, exist_ok=True)
        producer = _connect(loaded, running.stop)
        if producer is None:
            return
        watcher = SlurmWatcher(producer, file)
        began = time.time()

        def health() -> list[str]:
            silent = time.time() - max(began, watcher.last_look)
            return [f"Slurm has not answered for {silent:.0f} s"] if silent > SILENT_S else []

        running.telemetry.export(watcher.metrics)
        running.telemetry.health = health
        watcher.run(running.stop, interval or settings.producer.scheduler_seconds)
        producer.close()


def _connect(loaded: Loaded, stop: Event) -> Producer | None:
    """Return a producer once a broker answers; None where `stop` was set before."""
    from schedmate.connections import kafka_connection
    from streams.kafka import KafkaProducer

    kafka = loaded.settings.kafka
    connect = partial(KafkaProducer, kafka_connection(kafka), kafka.compression, give_up_s=10.0)
    try:
        return retry(connect, Outage("Kafka"), on=TransportError, stop=stop)
    except TransportError:
        return None
