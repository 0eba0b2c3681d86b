"""`schedmate bridge`: decisions, and what carries them out."""

import typer

from ..settings.settings import Loaded

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(context: typer.Context) -> None:
    """Turn verdicts and slowdowns into decisions, and decisions into actions of the scheduler that `bridge.scheduler` names.

    By default decisions are only published. `bridge.modes` gives an action (`restart`, `cancel_packing`, `drain` …: docs/decisions.md) the
    mode `act`, or `approve`, in which each decision waits for `schedmate decisions approve`. `schedmate decisions stop` stops all actions.

    The result of each action is checked at the scheduler and written to the topic `decision-results`. The scheduler's page in docs lists
    the rights that the bridge needs. Run one bridge per scheduler; it serves all clusters in that scheduler's settings.

    Example: `schedmate --set bridge.modes=restart=act,cancel_packing=approve bridge`
    """
    from functools import partial

    from scheduler_bridge.bundle import Bundles
    from streams.kafka import KafkaConsumer, KafkaProducer
    from streams.runtimes.pump import Pump

    from ..connections import kafka_connection, permitted, wait_for_broker
    from ..plugins.schedulers import actuator
    from ..services.bridge import READ, Bridging, History
    from ..services.log_windows import LogWindows
    from ..services.service import service

    loaded: Loaded = context.obj
    settings = loaded.settings
    scheduler = actuator(loaded)
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
