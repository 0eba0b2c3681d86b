"""Puts the rooms together as the settings say."""

from collections.abc import Callable
from pathlib import Path

from processors.interference.monitor import InterferenceMonitor
from processors.track.tracker import MetricTracker

from processors.classify.classifier import LineClassifier
from processors.classify.fallback import ExemplarClassifier, TemplateClassifier
from processors.job import JobProcessor
from processors.models.embedder import Embedder
from schedmate.connections import kafka_connection
from schedmate.settings import ProcessorSettings, Settings
from streams.kafka import KafkaProducer
from streams.transport import Producer


def line_classifier(settings: ProcessorSettings) -> LineClassifier:
    """Return the line classifier. Loads the embedder, where one is configured."""
    return LineClassifier(fallback=_fallback(settings))


def job_processor(settings: ProcessorSettings) -> JobProcessor:
    """Return all processors of a job."""
    return JobProcessor(
        classifier=line_classifier(settings),
        tracker=MetricTracker(reports=settings.reports),
        monitor=InterferenceMonitor(threshold=settings.slowdown_threshold, warmup_steps=settings.warmup_steps),
    )


def producer_factory(settings: Settings) -> Callable[[], Producer]:
    """Return what opens a Kafka producer; it raises `TransportError` while no broker answers."""
    connection = kafka_connection(settings.kafka)
    return lambda: KafkaProducer(connection, compression=settings.kafka.compression)


def _fallback(settings: ProcessorSettings) -> TemplateClassifier | None:
    embedder: Embedder
    if settings.embedder == "none":
        return None
    if settings.embedder == "onnx":
        from processors.models.onnx import OnnxEmbedder

        embedder = OnnxEmbedder(Path(settings.embedder_model))
    else:
        from processors.models.flag import FlagEmbedder

        embedder = FlagEmbedder(settings.embedder_model)
    return ExemplarClassifier(embedder)
