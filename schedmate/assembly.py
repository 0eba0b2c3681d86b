"""Puts the rooms together as the settings say."""

from collections.abc import Callable

from processors.interference.monitor import InterferenceMonitor
from processors.track.tracker import MetricTracker

from processors.classify.classifier import LineClassifier
from processors.job import JobProcessor
from schedmate.connections import kafka_connection
from schedmate.settings import ProcessorSettings, Settings
from streams.kafka import KafkaProducer
from streams.transport import Producer


def job_processor(settings: ProcessorSettings) -> JobProcessor:
    """Return the processors of a job. Loads the embedder, where one is configured."""
    return JobProcessor(
        classifier=LineClassifier(fallback=_fallback(settings)),
        tracker=MetricTracker(reports=settings.reports),
        monitor=InterferenceMonitor(threshold=settings.slowdown_threshold, warmup_steps=settings.warmup_steps),
    )


def producer_factory(settings: Settings) -> Callable[[], Producer]:
    """Return what opens a Kafka producer; it raises `TransportError` while no broker answers."""
    connection = kafka_connection(settings.kafka)
    return lambda: KafkaProducer(connection, compression=settings.kafka.compression)
