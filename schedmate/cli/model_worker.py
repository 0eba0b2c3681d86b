"""`schedmate model-worker`: answers the workers' questions to a language model."""

import typer

from ..settings.settings import Loaded

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
def command(context: typer.Context) -> None:
    """Answer the workers' questions with a language model: vLLM in this process, or servers over HTTP.

    It runs on GPU hosts as a Faust worker with its own group. Start several to share the load. Workers ask questions if
    `processors.ask_models` is set.

    Examples: `schedmate --set language_model.servers=http://127.0.0.1:8000/v1 model-worker`,
    `schedmate --set language_model.load=Qwen/Qwen2.5-7B-Instruct model-worker`
    """
    from functools import partial

    from streams.kafka import KafkaFollower, KafkaReader, list_topics
    from streams.model_worker.answering import QuestionAnswerer
    from streams.model_worker.chunks import chunks_by_offset
    from streams.model_worker.faust_worker import FaustModelWorker
    from streams.runtimes.known_formats import TOPIC, FormatsFollower

    from ..connections import kafka_connection, permitted, wait_for_broker
    from ..models.language_models import language_model
    from ..services.service import service
    from ..settings.settings import SettingsError

    loaded: Loaded = context.obj
    settings = loaded.settings
    with service(settings, "model-worker", signals=False) as running:
        running.telemetry.health = kafka_connection(settings.kafka).problems
        connection = permitted(settings.kafka, "model-worker", running.stop)
        model = language_model(settings.language_model)
        if model is None:
            raise SettingsError(
                "expected a language model to ask, got none: name servers in language_model.servers, or a model to load in "
                "language_model.load"
            )
        chunks_of = chunks_by_offset(KafkaReader(connection))
        partitions = wait_for_broker(partial(list_topics, connection), running.stop)["model-answers"]
        answerer = QuestionAnswerer(model, chunks_of, partitions, settings.language_model.answer_seconds)
        FormatsFollower(KafkaFollower(connection, [TOPIC]).new, answerer.formats).start(running.stop)
        running.telemetry.export(answerer.metrics, model.metrics, model.store.metrics)
        group, timeout_s = f"{settings.kafka.group}-model-worker", settings.kafka.session_timeout_s
        worker = FaustModelWorker(connection, answerer, group, timeout_s, settings.language_model.concurrency)
        running.telemetry.health = worker.problems
        worker.run()
