"""`schedmate advisor`: estimates for submitted jobs, on Kafka."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from schedmate_records import Position, Record

from ..settings.settings import Loaded

if TYPE_CHECKING:
    from ..advisor.retraining import Retraining
    from ..advisor.submissions import SubmissionAdvisor

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(context: typer.Context) -> None:
    """Estimate how long each job will run when it is submitted, from earlier jobs.

    One instance is active; others of its group are standbys. The history is a file (`advisor.history`), which `schedmate import` fills.
    If no past job is similar, the trained model in `advisor.models` makes the estimate; a newer model is loaded as soon as it
    exists. Every `advisor.train_hours`, the active instance runs `schedmate advise train --when-drifted` at the lowest priority. The GPU
    utilisation of past jobs comes from the samples of `gpu-agent`.

    Example: `schedmate --set advisor.history=/var/lib/schedmate/history.db advisor`
    """
    import time
    from functools import partial

    from streams.kafka import KafkaConsumer, KafkaFollower
    from streams.runtimes.pump import Pump

    from ..advisor.history_file import history_file
    from ..advisor.settings import CURRENT
    from ..advisor.similar_search import load_history, redis_outage
    from ..advisor.submissions import SubmissionAdvisor
    from ..advisor.utilisation import SampleReader, Utilisation
    from ..assembly import producer_factory
    from ..connections import kafka_connection, permitted, wait_for_broker
    from ..services.advisor import READ, SAMPLES, Publisher
    from ..services.service import service

    loaded: Loaded = context.obj
    settings = loaded.settings
    group = f"{settings.kafka.group}-advisor"
    with service(settings, "advisor") as running, history_file(settings.advisor.history) as store:
        running.telemetry.health = kafka_connection(settings.kafka).problems
        connection = permitted(settings.kafka, "advisor", running.stop)
        running.telemetry.health = connection.problems
        join = partial(KafkaConsumer, connection, group, READ, settings.kafka.session_timeout_s, standby=True)
        with wait_for_broker(join, running.stop) as consumer:
            producer = wait_for_broker(producer_factory(settings), running.stop)
            publisher = Publisher(producer, running.stop)
            vectors = redis_outage()
            history = load_history(store, settings, vectors)
            used = Utilisation()
            SampleReader(
                lambda: KafkaFollower(connection, SAMPLES, since=time.time()), used.add_sample, running.stop
            ).start()
            advisor = SubmissionAdvisor(store, publisher, settings.advisor.models / CURRENT, history, used)
            retraining = _retraining(loaded, advisor)

            def handle(batch: Sequence[tuple[Position, Record]]) -> None:
                advisor.handle(batch)
                if batch:  # a standby gets none, and trains nothing
                    retraining.poll()

            pump = Pump(consumer, producer, handle)
            running.telemetry.export(pump.metrics, publisher.outage.metrics, vectors.metrics, advisor.metrics)
            try:
                pump.run(running.stop)
            finally:
                producer.close()
                retraining.close()


def _retraining(loaded: Loaded, advisor: "SubmissionAdvisor") -> "Retraining":
    """Return what trains again: the same program, on the same files."""
    import os
    import sys

    from ..advisor.retraining import Retraining

    settings = loaded.settings.advisor
    environment = os.environ | {
        "SCHEDMATE_ADVISOR__HISTORY": str(settings.history),
        "SCHEDMATE_ADVISOR__MODELS": str(settings.models),
    }
    command = [sys.executable, "-m", "schedmate", "advise", "train", "--when-drifted"]
    return Retraining(command, environment, 3600 * settings.train_hours, advisor.metrics)
