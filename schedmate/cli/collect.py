"""`schedmate collect`: log files, tailed and shipped."""

import socket
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings.settings import Loaded
from . import fail

if TYPE_CHECKING:
    from scheduler_bridge.schedulers.kubernetes.pod_logs import PodLogs
    from streams.producers.collector import Collector

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

SLURM = r"slurm-(?P<job>\d+(?:_\d+)?)\.(?P<stream>out|err)$"
"""Slurm's default name of a job's output."""


@app.command()
def command(
    context: typer.Context,
    globs: Annotated[
        list[str] | None, typer.Argument(metavar="GLOB...", help="Log files of jobs; ** matches directories.")
    ] = None,
    *,
    pattern: Annotated[
        str,
        typer.Option(
            metavar="REGEX",
            help="Pattern of the file path with the group `job` and, optionally, `rank`, `stream`, `attempt`, `node`, `cluster`.",
        ),
    ] = SLURM,
    node_log: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB",
            help="Kernel or system log of the node, read from its current end; or /dev/kmsg; or journal.",
        ),
    ] = None,
    pod_logs: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory of the kubelet's pod logs (/var/log/pods). Logs of Jobs are read.",
            show_default="not read",
        ),
    ] = None,
    node: Annotated[
        str | None, typer.Option(help="Node name that the scheduler uses for this host.", show_default="host name")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with the acknowledged positions.", show_default="producer.directory"),
    ] = None,
    trust_owner: Annotated[
        list[str] | None,
        typer.Option(
            metavar="USER",
            help="Accept files of this user for any job; `*` accepts files of every user.",
            show_default="the job's owner by bridge.scheduler, this user, root",
        ),
    ] = None,
    socket_path: Annotated[
        Path | None,
        typer.Option(
            "--socket",
            metavar="PATH",
            help="Socket on which pipes of this node deliver their lines.",
            show_default="none",
        ),
    ] = None,
    ignore_older: Annotated[
        float | None,
        typer.Option(
            metavar="HOURS",
            min=0,
            help="Ignore files that were not written for this many hours.",
            show_default="no limit",
        ),
    ] = None,
) -> None:
    r"""Tail log files and ship their lines to Kafka. Files may be rotated, truncated and deleted. A restart continues where it stopped.

    A file is read for the job in its name only if the job's owner owns the file. Links that users made are not followed.
    The collector also sends the lines that pipes on this host could not send before they ended.

    With --pod-logs, job, attempt and rank come from the Kubernetes Job that owns the pod. This needs the extra `kubernetes`
    and the right to list and watch Pods and to get Jobs (docs/kubernetes.md).

    Examples: `schedmate collect '/home/*/slurm-*.out'`,
    `schedmate collect --pod-logs /var/log/pods --node gpu-1`,
    `schedmate collect --socket /run/schedmate/collector.sock`,
    `schedmate collect --pattern '/(?P<job>\d+)/rank(?P<rank>\d+)\.(?P<stream>out|err)$' '/logs/**/rank*'`
    """
    from streams.kafka import KafkaProducer
    from streams.producers.checkpoint import InvalidCheckpoint
    from streams.producers.chunker import ChunkLimits
    from streams.producers.collector import Collector
    from streams.producers.collector_settings import CollectorSettings
    from streams.producers.file_trust import FileTrust, UnknownUser, user_ids
    from streams.producers.metrics import ShippingMetrics
    from streams.producers.paths import InvalidPattern
    from streams.producers.pipe_intake import SocketInUse
    from streams.producers.spool import SpoolSettings
    from streams.transport import Producer

    from ..connections import kafka_connection
    from ..plugins.schedulers import chosen_scheduler, settings_of
    from ..services.service import service

    loaded: Loaded = context.obj
    settings = loaded.settings
    if not (globs or node_log or socket_path or pod_logs):
        fail("expected files to collect, or --socket PATH, got none: schedmate collect '/home/*/slurm-*.out'")
    scheduler = chosen_scheduler(loaded)
    owners = scheduler.owners(settings_of(loaded, scheduler))
    try:
        trusted = set(trust_owner or ())
        trust = FileTrust(user_ids(trusted - {"*"}), "*" in trusted, owners.owner_of if owners else None)
    except UnknownUser as error:
        fail(str(error))
        return
    node = node or socket.gethostname().partition(".")[0]
    pods = _pod_logs(pod_logs, node) if pod_logs else None
    how = CollectorSettings(
        globs=globs or [],
        pattern=pattern,
        node_globs=node_log or [],
        pods=pods,
        node=node,
        checkpoint=checkpoint or settings.producer.directory / "collect.json",
        trust=trust,
        socket=socket_path,
        spool=SpoolSettings(settings.producer.directory / "spool", settings.producer.spool_mb << 20),
        ignore_older_s=None if ignore_older is None else ignore_older * 3600,
        close_timeout=settings.producer.close_seconds,
        limits=ChunkLimits(settings.producer.chunk_lines, seconds=settings.producer.chunk_seconds),
    )

    def connect() -> Producer:
        return KafkaProducer(kafka_connection(settings.kafka))

    with service(settings, "collect") as running:
        try:
            collector = Collector(how, connect)
        except (InvalidPattern, InvalidCheckpoint, SocketInUse) as error:
            fail(str(error))
            return
        except OSError as error:
            fail(
                f"expected to write {error.filename or socket_path}: {error.strerror}; pass --checkpoint FILE, --socket PATH"
            )
            return
        running.telemetry.export(collector.metrics, ShippingMetrics(collector.shipper.counters))
        if collector.intake is not None:
            running.telemetry.export(collector.intake.metrics)

        running.telemetry.health = partial(_problems, collector, pods)
        try:
            collector.run(running.stop)
        finally:
            collector.close()
            if owners:
                owners.close()


def _problems(collector: "Collector", pods: "PodLogs | None") -> list[str]:
    away = collector.has_shipped and not collector.shipper.counters.broker_up
    wrong = ["the broker takes no lines; they wait in their files"] if away else []
    return wrong + ([f"Kubernetes does not report the owners of the pods: {pods.error}"] if pods and pods.error else [])


def _pod_logs(directory: Path, node: str) -> "PodLogs":
    """Connect to the cluster, and begin to follow the pods of this node."""
    from .extras import require

    require("kubernetes")
    from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient
    from scheduler_bridge.schedulers.kubernetes.pod_logs import PodLogs

    pods = PodLogs(directory, node, KubernetesClient.connect())
    pods.start()
    return pods
