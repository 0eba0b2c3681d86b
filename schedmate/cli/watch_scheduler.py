"""`schedmate watch-scheduler`: job events from a scheduler."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streams.transport import Producer

from ..settings.settings import Loaded, Settings

if TYPE_CHECKING:
    from scheduler_bridge.schedulers.job_watcher import JobWatcher
    from scheduler_bridge.schedulers.slurm.events.model_reader import ModelReader

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
            metavar="FILE",
            help="Events that were sent already.",
            show_default="slurm-events.json in producer.directory",
        ),
    ] = None,
    cluster: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Watch this cluster, one of `slurm.clusters`.", show_default="the local cluster"
        ),
    ] = "",
) -> None:
    """Watch Slurm's list of jobs, and ship what changes: submitted, described, started, packed, unpacked, requeued, ended.

    It needs Slurm's client commands and the right to see all jobs. Run one for each cluster. With `bridge.kept_jobs_directory` it keeps
    the jobs' scripts there, too. With `producer.read_sources` it reports what each submitted job trains, from its source tree; with
    `producer.ask_model` a language model reads the tree first, and its answer follows as an event of its own.

    Examples: `schedmate watch-scheduler slurm --interval 2`, and for a second cluster `schedmate watch-scheduler slurm --cluster beta`
    """
    from scheduler_bridge.schedulers.slurm.client.kept_jobs import KeptJobs
    from scheduler_bridge.schedulers.slurm.events import SlurmWatcher

    from . import fail
    from .extras import require

    loaded: Loaded = context.obj
    if cluster and cluster not in loaded.settings.slurm.clusters:
        fail(f"expected one of slurm.clusters ({', '.join(loaded.settings.slurm.clusters)}), got --cluster {cluster}")
    name = f"slurm-events-{cluster}.json" if cluster else "slurm-events.json"
    file = checkpoint or loaded.settings.producer.directory / name
    directory = loaded.settings.bridge.kept_jobs_directory
    kept = KeptJobs(directory / cluster) if directory else None
    read_sources = loaded.settings.producer.read_sources
    if read_sources:
        require("yaml")
    model = _model_reader(loaded.settings) if loaded.settings.producer.ask_model else None
    make = partial(SlurmWatcher, checkpoint=file, kept=kept, cluster=cluster, read_sources=read_sources, model=model)
    _watch(loaded.settings, "Slurm", file, interval, make)


def _model_reader(settings: Settings) -> "ModelReader":
    from schedmate_records import UserError
    from scheduler_bridge.schedulers.slurm.events.model_reader import ModelReader

    from ..models.language_models import ask_or_none, language_model

    model = language_model(settings.language_model)
    if model is None or not settings.producer.read_sources:
        raise UserError("expected producer.read_sources and language_model.servers where producer.ask_model is true")
    return ModelReader(ask_or_none(model))


@app.command()
def kubernetes(
    context: typer.Context,
    kubeconfig: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="How to connect.", show_default="the pod's service account, else KUBECONFIG"),
    ] = None,
    namespace: Annotated[
        str, typer.Option(metavar="NAME", help="Watch this namespace alone.", show_default="all")
    ] = "",
    interval: Annotated[
        float | None,
        typer.Option(min=0.05, help="Least seconds between looks.", show_default="producer.scheduler_seconds"),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Events that were sent already.",
            show_default="kubernetes-events.json in producer.directory",
        ),
    ] = None,
) -> None:
    """Watch Kubernetes' Jobs, and ship what changes: submitted, started, requeued, ended.

    It needs the extra `kubernetes`, and the right to list and watch Jobs, Pods and Nodes (docs/kubernetes.md). Run one for each cluster.

    Example: `schedmate watch-scheduler kubernetes --namespace research`
    """
    from .extras import require

    require("kubernetes")
    from scheduler_bridge.schedulers.kubernetes.client import KubernetesClient
    from scheduler_bridge.schedulers.kubernetes.events import KubernetesWatcher

    loaded: Loaded = context.obj
    file = checkpoint or loaded.settings.producer.directory / "kubernetes-events.json"
    client = KubernetesClient.connect(kubeconfig)
    made = partial(KubernetesWatcher, checkpoint=file, client=client, namespace=namespace)
    _watch(loaded.settings, "Kubernetes", file, interval, made)


@app.command()
def ray(
    context: typer.Context,
    address: Annotated[
        str,
        typer.Option(
            metavar="URL", help="Ray's dashboard.", show_default="RAY_API_SERVER_ADDRESS, else http://127.0.0.1:8265"
        ),
    ] = "",
    interval: Annotated[
        float | None,
        typer.Option(min=0.05, help="Seconds between looks.", show_default="producer.scheduler_seconds"),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Events that were sent already.", show_default="ray-events.json in producer.directory"
        ),
    ] = None,
) -> None:
    """Watch the jobs submitted to Ray, and ship what changes: submitted, started, requeued, ended.

    It needs no package of Ray's, and the cluster's token where there is one (`RAY_AUTH_TOKEN`, docs/ray.md). Run one for each cluster.

    Example: `schedmate watch-scheduler ray --address http://ray-head:8265`
    """
    from scheduler_bridge.schedulers.ray.client import RayClient, RayConnection
    from scheduler_bridge.schedulers.ray.events import RayWatcher

    loaded: Loaded = context.obj
    file = checkpoint or loaded.settings.producer.directory / "ray-events.json"
    client = RayClient(RayConnection.find(address))
    _watch(loaded.settings, "Ray", file, interval, partial(RayWatcher, checkpoint=file, client=client))


def _watch(
    settings: Settings,
    scheduler: str,
    file: Path,
    interval: float | None,
    make: Callable[[Callable[[], Producer]], "JobWatcher[Any]"],
) -> None:
    """Run a watcher until the process is asked to stop."""
    from streams.kafka import KafkaProducer
    from streams.producers.metrics import ShippingMetrics

    from ..connections import kafka_connection
    from ..services.service import service

    def connect() -> Producer:
        return KafkaProducer(kafka_connection(settings.kafka), give_up_s=10.0)

    with service(settings, "watch-scheduler") as running:
        file.parent.mkdir(parents=True, exist_ok=True)
        watcher = make(connect)
        began = time.monotonic()

        def health() -> list[str]:
            silent = time.monotonic() - max(began, watcher.last_look)
            return [f"{scheduler} has not answered for {silent:.0f} s"] if silent > SILENT_S else []

        running.telemetry.export(watcher.metrics, ShippingMetrics(watcher.shipper.counters))
        running.telemetry.health = health
        try:
            watcher.run(running.stop, interval or settings.producer.scheduler_seconds)
        finally:
            watcher.close(settings.producer.close_seconds)
