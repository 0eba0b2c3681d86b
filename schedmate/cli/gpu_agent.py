"""`schedmate gpu-agent`: samples of this host's GPUs."""

import socket
import time
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from scheduler_bridge.schedulers.slurm.runs import SlurmRuns
from streams.producers.gpu.agent import GpuAgent
from streams.producers.gpu.nvml import NvmlSource
from streams.producers.gpu.processes import owner_of
from streams.producers.gpu.recording import InvalidRecording, RecordingSource, RecordingWriter, shipped_recording
from streams.producers.gpu.source import GpuError
from streams.producers.metrics import ShippingMetrics
from streams.transport import Outgoing, Producer

from ..settings.settings import Loaded
from .console import print_json

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

SHIPPED = "shipped"
"""Value of `--replay` for the shipped recording."""


class _Printer:
    """A producer that prints."""

    def send(self, message: Outgoing) -> "Future[None]":
        print_json(message.value or b"")
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def flush(self, timeout: float) -> None:
        """Nothing is ever outstanding."""

    def close(self) -> None:
        """Nothing to let go of."""


@app.command()
def command(
    context: typer.Context,
    *,
    interval: Annotated[
        float | None, typer.Option(min=0.01, help="Seconds between samples.", show_default="producer.gpu_seconds")
    ] = None,
    node: Annotated[
        str | None,
        typer.Option(
            help="Node name that the scheduler uses for this host; a replay keeps the recorded one.",
            show_default="host name",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also record the samples to FILE as JSON lines; compressed if its name ends in .gz."
        ),
    ] = None,
    replay: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help=f"Replay a recording instead of reading GPUs; `{SHIPPED}` is a synthetic recording."
        ),
    ] = None,
    loop: Annotated[bool, typer.Option("--loop", help="Repeat the replay without end.")] = False,
    stdout: Annotated[bool, typer.Option("--stdout", help="Print the samples and send nothing to Kafka.")] = False,
) -> None:
    """Sample this host's GPUs through NVML, and ship the samples and Xid events to Kafka. A value that a GPU does not report is null.

    While no broker is reachable, the newest samples are kept in memory; the oldest are dropped and counted.

    Examples: `schedmate gpu-agent --interval 1 --record gpus.jsonl.gz`, and without a GPU:
    `schedmate gpu-agent --replay shipped --loop --stdout`
    """
    from streams.kafka import KafkaProducer

    from ..connections import kafka_connection
    from ..services.service import service

    loaded: Loaded = context.obj
    settings = loaded.settings
    every = interval or settings.producer.gpu_seconds

    def connect() -> Producer:
        if stdout:
            return _Printer()
        return KafkaProducer(kafka_connection(settings.kafka))

    with service(settings, "gpu-agent") as running:
        source = _source(replay, loop, node, settings.slurm.clusters)
        recorder = _recorder(record, source)
        agent = GpuAgent(
            source, connect, every, recorder=recorder, stop=running.stop, close_seconds=settings.producer.close_seconds
        )
        running.telemetry.export(agent.metrics, ShippingMetrics(agent.shipper.counters))
        began = time.monotonic()

        def health() -> list[str]:
            silent = time.monotonic() - max(began, agent.last_round)
            # Without a sample for so long (or for three intervals) the agent is unwell: NVML may take seconds where a GPU is
            # ill.
            return [f"no GPU could be sampled for {silent:.0f} s"] if silent > max(30.0, 3 * every) else []

        running.telemetry.health = health
        agent.run()


def _source(replay: str | None, loop: bool, node: str | None, clusters: Sequence[str]) -> NvmlSource | RecordingSource:
    if replay is None:
        if loop:
            raise GpuError("expected --loop only with --replay FILE: real GPUs go on anyway")
        owner = partial(owner_of, clusters=clusters, job_of_run=SlurmRuns().job)
        return NvmlSource(node or socket.gethostname().partition(".")[0], owner=owner)
    try:
        return RecordingSource(shipped_recording() if replay == SHIPPED else Path(replay), loop=loop, node=node)
    except InvalidRecording as error:
        raise GpuError(str(error)) from error


def _recorder(record: Path | None, source: NvmlSource | RecordingSource) -> RecordingWriter | None:
    if record is None:
        return None
    try:
        return RecordingWriter(record, source.about, made_up=isinstance(source, RecordingSource) and source.made_up)
    except OSError as error:
        source.close()
        raise GpuError(
            f"expected to create the recording {record}: {error.strerror}; name a file that is not there yet"
        ) from error
