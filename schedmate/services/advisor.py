"""The advisor on Kafka: submissions come in, estimates go out."""

from collections.abc import Sequence
from threading import Event

from schedmate_records import Estimate
from streams.resilience import Outage, retry
from streams.transport import Producer, TransportError, write_records

READ = ("job-events",)
SAMPLES = ("gpu-metrics",)
"""Followed from its present end, without a group: how hard jobs are on their GPUs."""


class Publisher:
    """Writes estimates, and holds the stream back while the broker is away."""

    def __init__(self, producer: Producer, stop: Event) -> None:
        self._producer, self._stop = producer, stop
        self.outage = Outage("Kafka", consequence="submissions wait for their estimates")

    def __call__(self, estimates: Sequence[Estimate]) -> None:
        """Return once all are acknowledged."""
        if estimates:
            retry(lambda: write_records(self._producer, estimates), self.outage, on=TransportError, stop=self._stop)
