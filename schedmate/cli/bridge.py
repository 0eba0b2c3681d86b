"""`schedmate bridge`: decisions, and what carries them out."""

from typing import TYPE_CHECKING

import typer

from schedmate.settings import Loaded

if TYPE_CHECKING:
    from scheduler_bridge.actuators import Actuator

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(context: typer.Context) -> None:
    """Turn verdicts and slowdowns into decisions, and decisions into actions of the scheduler, Slurm or Kubernetes (`bridge.scheduler`).

    It only publishes decisions until `bridge.modes` gives an action (`restart`, `cancel_packing`, `drain` …: docs/decisions.md) the mode
    `act`, or `approve`, in which each decision waits for `schedmate decisions approve`. `schedmate decisions stop` stops all actions.

    What it does is checked at the scheduler and written to the topic `decision-results`. It needs rights there: docs/slurm.md and
    docs/kubernetes.md say which. Run one for each cluster.

    Example: `schedmate --set bridge.modes=restart=act,cancel_packing=approve bridge`
    """
    from schedmate.connections import kafka_connection, permitted
    from schedmate.service import service
    from schedmate.services.bridge import READ, Bridging, History
    from streams.kafka import KafkaConsumer, KafkaProducer
    from streams.runtimes.pump import Pump

    loaded: Loaded = context.obj
    settings = loaded.settings
    actuator = _actuator(settings.bridge.scheduler)
    with service(settings, "bridge") as running:
        running.telemetry.health = kafka_connection(settings.kafka).problems
        connection = permitted(settings.kafka, "bridge", running.stop)
        producer = KafkaProducer(connection, settings.kafka.compression)
        group = f"{settings.kafka.group}-bridge"
        with KafkaConsumer(connection, group, READ, settings.kafka.session_timeout_s, standby=True) as consumer:
            bridging = Bridging(
                actuator,
                settings.bridge.options(),
                producer,
                History(connection),
                running.stop,
                active=lambda: consumer.active,
            )
            pump = Pump(consumer, producer, bridging.handle)
            running.telemetry.health = lambda: [*connection.problems(), *bridging.problems()]
            running.telemetry.export(bridging.bridge.metrics, pump.metrics)
            pump.run(running.stop)
        bridging.close()
        producer.close()


def _actuator(scheduler: str) -> "Actuator":
    """Return what carries decisions out at a scheduler."""
    if scheduler == "kubernetes":
        from schedmate.extras import require

        require("kubernetes")
        from scheduler_bridge.actuators.kubernetes import KubernetesActuator
        from scheduler_clients.kubernetes import KubernetesClient

        return KubernetesActuator(KubernetesClient.connect())
    from scheduler_bridge.actuators.slurm import SlurmActuator

    return SlurmActuator()
