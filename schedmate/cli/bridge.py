"""`schedmate bridge`: decisions, and what carries them out."""

from typing import TYPE_CHECKING, assert_never

import typer

from ..settings.settings import Loaded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler_bridge.schedulers import Actuator
    from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator
    from scheduler_bridge.settings import BridgeSettings

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(context: typer.Context) -> None:
    """Turn verdicts and slowdowns into decisions, and decisions into actions of Slurm, Kubernetes or Ray (`bridge.scheduler`).

    It only publishes decisions until `bridge.modes` gives an action (`restart`, `cancel_packing`, `drain` …: docs/decisions.md) the mode
    `act`, or `approve`, in which each decision waits for `schedmate decisions approve`. `schedmate decisions stop` stops all actions.

    What it does is checked at the scheduler and written to the topic `decision-results`. It needs rights there: docs/slurm.md,
    docs/kubernetes.md and docs/ray.md list them. Run one for each cluster; for several Slurm clusters (`slurm.clusters`), one for all.

    Example: `schedmate --set bridge.modes=restart=act,cancel_packing=approve bridge`
    """
    from functools import partial

    from scheduler_bridge.bundle import Bundles
    from streams.kafka import KafkaConsumer, KafkaProducer
    from streams.runtimes.pump import Pump

    from ..connections import kafka_connection, permitted, wait_for_broker
    from ..services.bridge import READ, Bridging, History
    from ..services.log_windows import LogWindows
    from ..services.service import service

    loaded: Loaded = context.obj
    settings = loaded.settings
    scheduler = actuator(settings.bridge, settings.slurm.clusters)
    with service(settings, "bridge") as running:
        running.telemetry.health = kafka_connection(settings.kafka).problems
        connection = permitted(settings.kafka, "bridge", running.stop)
        producer = wait_for_broker(partial(KafkaProducer, connection), running.stop)
        windows = LogWindows(connection)
        group = f"{settings.kafka.group}-bridge"
        join = partial(KafkaConsumer, connection, group, READ, settings.kafka.session_timeout_s, standby=True)
        with wait_for_broker(join, running.stop) as consumer:
            bridging = Bridging(
                scheduler,
                settings.bridge,
                producer,
                History(connection),
                running.stop,
                active=lambda: consumer.active,
                bundles=Bundles(settings.bridge.bundle_directory, windows)
                if settings.bridge.bundle_directory
                else None,
                spans=running.spans,
            )
            pump = Pump(consumer, producer, bridging.handle)
            running.telemetry.health = lambda: [*connection.problems(), *bridging.problems()]
            running.telemetry.export(bridging.bridge.metrics, pump.metrics)
            pump.run(running.stop)
        bridging.close()
        windows.close()
        producer.close()


def actuator(settings: "BridgeSettings", slurm_clusters: "Sequence[str]" = ()) -> "Actuator":
    """Return what carries decisions out at a scheduler.

    Args:
        settings: Which one, and how.
        slurm_clusters: Names of Slurm clusters in addition to the local one.
    """
    match settings.scheduler:
        case "slurm":
            return _slurms(settings, slurm_clusters)
        case "kubernetes":
            from .extras import require

            require("kubernetes")
            from scheduler_bridge.schedulers.kubernetes.actuator import KubernetesActuator
            from scheduler_bridge.schedulers.kubernetes.client import KubernetesClient

            return KubernetesActuator(KubernetesClient.connect())
        case "ray":
            from scheduler_bridge.schedulers.ray.actuator import RayActuator
            from scheduler_bridge.schedulers.ray.client import RayClient, RayConnection

            return RayActuator(RayClient(RayConnection.find()))
    assert_never(settings.scheduler)


def _slurms(settings: "BridgeSettings", clusters: "Sequence[str]") -> "Actuator":
    """Return the actuator of the local Slurm cluster, and of the named ones."""
    if not clusters:
        return _slurm(settings)
    from scheduler_bridge.schedulers.slurm.actuator import SlurmClusters

    return SlurmClusters({name: _slurm(settings, name) for name in ("", *clusters)})


def _slurm(settings: "BridgeSettings", cluster: str = "") -> "SlurmActuator":
    """Return what carries decisions out at one Slurm cluster."""
    from functools import partial

    from scheduler_bridge.schedulers.slurm.actuator import NodeChecks, Resubmission, SlurmActuator
    from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
    from scheduler_bridge.schedulers.slurm.client.job_command import SlurmJobCommand
    from scheduler_bridge.schedulers.slurm.client.kept_jobs import KeptJobs
    from scheduler_bridge.schedulers.slurm.client.node_check import SlurmNodeCheck
    from scheduler_bridge.schedulers.slurm.client.submission import submit

    client = SlurmClient(SlurmCommands(cluster=cluster))
    kept = KeptJobs(settings.kept_jobs_directory / cluster) if settings.kept_jobs_directory else None
    limit_s = settings.node_check_seconds
    command = SlurmNodeCheck(settings.node_check, settings.node_check_options, limit_s, cluster=cluster)
    stacks = SlurmJobCommand(settings.stack_command, settings.stack_seconds, cluster=cluster)
    return SlurmActuator(
        client,
        resubmission=Resubmission(client, kept, partial(submit, cluster=cluster)) if kept else None,
        checks=NodeChecks(client, command) if settings.node_check else None,
        stacks=stacks if settings.stack_command else None,
    )
