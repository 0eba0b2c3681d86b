"""`schedmate spot`: how many GPUs spot jobs may have."""

import typer

from ..settings.settings import Loaded
from .extras import require

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(context: typer.Context) -> None:
    """Forecast the demand of high-priority jobs, and write the number of GPUs that spot jobs may use every five minutes (topic `quotas`).

    Spot jobs match `bridge.evictable` and not `bridge.evict_for`; all others have priority. It reads running and waiting jobs from the
    scheduler (`bridge.scheduler`) and changes nothing there. `schedmate bridge` holds spot jobs beyond the quota and evicts spot jobs
    if `bridge.modes` allows it (docs/spot.md). One instance is active; others of its group are standbys.

    Example: `schedmate --set bridge.evictable=partition=spot --set spot.organisation=account spot`; later `schedmate query quotas`
    """
    from functools import partial

    from streams.kafka import KafkaConsumer
    from streams.runtimes.pump import Pump

    from ..assembly import producer_factory
    from ..connections import kafka_connection, permitted, wait_for_broker
    from ..plugins.schedulers import actuator
    from ..services.service import service
    from ..services.spot import READ, PastQuotas, SpotService
    from ..spot.quotas import Quotas

    require("lightgbm")
    loaded: Loaded = context.obj
    settings = loaded.settings
    scheduler = actuator(loaded)
    group = f"{settings.kafka.group}-spot"
    with service(settings, "spot") as running:
        running.telemetry.health = kafka_connection(settings.kafka).problems
        connection = permitted(settings.kafka, "spot", running.stop)
        past = PastQuotas(connection, settings.spot)
        join = partial(KafkaConsumer, connection, group, READ, settings.kafka.session_timeout_s, standby=True)
        with wait_for_broker(join, running.stop) as consumer:
            producer = wait_for_broker(producer_factory(settings), running.stop)
            spot = SpotService(
                scheduler,
                Quotas(settings.spot, settings.bridge),
                settings.spot,
                producer,
                past=past,
                stop=running.stop,
                active=lambda: consumer.active,
            )
            pump = Pump(consumer, producer, spot.handle)
            running.telemetry.health = lambda: [*connection.problems(), *spot.problems()]
            running.telemetry.export(pump.metrics, spot.metrics, spot.kafka.metrics, spot.scheduler.metrics)
            try:
                pump.run(running.stop)
            finally:
                past.close()
                producer.close()
