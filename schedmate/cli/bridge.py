"""`schedmate bridge`: decisions, and what carries them out."""

import typer

from schedmate.settings import Loaded

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(context: typer.Context) -> None:
    """Turn verdicts and slowdowns into decisions, and decisions into Slurm's actions.

    It only publishes decisions until `bridge.modes` gives an action (`restart`, `cancel_packing`, `drain` …: docs/decisions.md) the mode
    `act`, or `approve`, in which each decision waits for `schedmate decisions approve`. `schedmate decisions stop` stops all actions.

    What it does is checked in Slurm and written to the topic `decision-results`. Its user must be an operator of Slurm, and
    an administrator where it drains nodes. Run one for each cluster.

    Example: `schedmate --set bridge.modes=restart=act,cancel_packing=approve bridge`
    """
    from schedmate.connections import kafka_connection, permitted
    from schedmate.service import service
    from schedmate.services.bridge import READ, Bridging, History
    from scheduler_bridge.actuators.slurm import SlurmActuator
    from streams.kafka import KafkaConsumer, KafkaProducer
    from streams.runtimes.pump import Pump

    loaded: Loaded = context.obj
    settings = loaded.settings
    with service(settings, "bridge") as running:
        running.telemetry.health = kafka_connection(settings.kafka).problems
        connection = permitted(settings.kafka, "bridge", running.stop)
        producer = KafkaProducer(connection, settings.kafka.compression)
        group = f"{settings.kafka.group}-bridge"
        with KafkaConsumer(connection, group, READ, settings.kafka.session_timeout_s, standby=True) as consumer:
            bridging = Bridging(
                SlurmActuator(),
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
