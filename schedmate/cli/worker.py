"""`schedmate worker`: the processors on Kafka."""

import typer

from ..settings.settings import Loaded

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(context: typer.Context) -> None:
    """Run the processors on Kafka, as a Faust worker. Start several to share the load; they divide the partitions among themselves.

    Example: `schedmate --set kafka.brokers=k1:9092 --set service.port=9101 worker`
    """
    from functools import partial

    from streams.kafka import KafkaFollower, list_topics
    from streams.runtimes.engine import Engine
    from streams.runtimes.faust_worker import FaustWorker
    from streams.runtimes.known_formats import TOPIC, FormatsFollower
    from streams.runtimes.metrics import EngineMetrics
    from streams.runtimes.tracing import Tracing

    from ..assembly import job_processor, known_formats, node_processor
    from ..connections import kafka_connection, permitted, wait_for_broker
    from ..services.service import service

    loaded: Loaded = context.obj
    settings = loaded.settings
    with service(settings, "worker", signals=False) as running:
        running.telemetry.health = kafka_connection(settings.kafka).problems
        connection = permitted(settings.kafka, "worker", running.stop)
        formats = known_formats(settings.processors)
        processor = job_processor(settings.processors, formats=formats, sections=loaded.plugins)
        nodes = node_processor(settings.processors)
        partitions = wait_for_broker(partial(list_topics, connection), running.stop)
        FormatsFollower(KafkaFollower(connection, [TOPIC]).new, formats).start(running.stop)
        tracing = Tracing(running.spans, settings.service.traces_share) if running.spans else None
        engine = Engine(processor, partitions["job-logs"], tracing=tracing)
        node_engine = Engine(nodes, partitions["node-logs"], metrics=EngineMetrics("node_worker"))
        running.telemetry.export(engine.metrics, node_engine.metrics, nodes.metrics, *processor.metric_groups())
        group, timeout_s = f"{settings.kafka.group}-worker", settings.kafka.session_timeout_s
        makers = (
            partial(job_processor, settings.processors, sections=loaded.plugins),
            partial(node_processor, settings.processors),
        )
        worker = FaustWorker(connection, [engine, node_engine], group, timeout_s, makers=makers)
        running.telemetry.health = worker.problems
        worker.run()
