"""`schedmate sink`: Kafka to ClickHouse and Redis."""

import typer

from ..settings.settings import Loaded

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(context: typer.Context) -> None:
    """Write metrics, verdicts, decisions, events and GPU samples from Kafka to ClickHouse and Redis, each exactly once.

    While ClickHouse or Redis is unreachable, it stops reading; nothing is dropped. Start several to share the load. If
    `clickhouse.job_lines_days` is set, it also stores the lines of jobs for `schedmate logs`.

    Example: `schedmate migrate && schedmate --set clickhouse.url=http://default@ch1:8123/schedmate sink`
    """
    from functools import partial

    from sinks import SinkUnavailable, TablesMissing
    from sinks.clickhouse.tables import STORED_TOPICS
    from streams.kafka import KafkaConsumer
    from streams.runtimes.pump import Pump

    from ..assembly import producer_factory
    from ..connections import kafka_connection, permitted, wait_for_broker
    from ..services.job_lines import storing_lines
    from ..services.service import service
    from ..services.sink import opened, with_spans

    loaded: Loaded = context.obj
    settings = loaded.settings
    group = f"{settings.kafka.group}-sink"
    with service(settings, "sink") as running, opened(settings, running.telemetry, running.stop) as sinks:
        running.telemetry.health = kafka_connection(settings.kafka).problems
        connection = permitted(settings.kafka, "sink", running.stop)
        running.telemetry.health = lambda: [*connection.problems(), *sinks.problems()]
        join = partial(KafkaConsumer, connection, group, STORED_TOPICS, settings.kafka.session_timeout_s)
        with storing_lines(settings, running), wait_for_broker(join, running.stop) as consumer:
            producer = wait_for_broker(producer_factory(settings), running.stop)
            write = with_spans(sinks.write, running.spans) if running.spans else sinks.write
            pump = Pump(consumer, producer, write, settings.clickhouse.batch_rows, settings.clickhouse.batch_seconds)
            running.telemetry.export(pump.metrics)
            try:
                pump.run(running.stop)
            except (SinkUnavailable, TablesMissing):
                if not running.stop.is_set():
                    raise
            finally:
                producer.close()
