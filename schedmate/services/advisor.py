"""The advisor on Kafka: submissions come in, estimates go out."""

from collections.abc import Sequence
from threading import Event

from schedmate_records import Estimate
from streams.resilience import Outage, retry
from streams.transport import Producer, TransportError, outgoing

READ = ("job-events",)
SAMPLES = ("gpu-metrics",)
"""Followed from its present end, without a group: how hard jobs are on their GPUs."""
ACKNOWLEDGED_S = 30.0
"""An acknowledgement that takes longer counts as an outage."""


class Publisher:
    """Writes estimates, and holds the stream back while the broker is away."""

    def __init__(self, producer: Producer, stop: Event) -> None:
        self._producer, self._stop = producer, stop
        self.outage = Outage("Kafka", consequence="submissions wait for their estimates")

    def __call__(self, estimates: Sequence[Estimate]) -> None:
        """Return once all are acknowledged."""
        if estimates:
            retry(lambda: self._send(estimates), self.outage, on=TransportError, stop=self._stop)

    def _send(self, estimates: Sequence[Estimate]) -> None:
        sent = [self._producer.send(outgoing(each)) for each in estimates]
        try:
            for each in sent:
                each.result(ACKNOWLEDGED_S)
        except TimeoutError as error:
            raise TransportError(f"expected an acknowledgement within {ACKNOWLEDGED_S:g} s, got none") from error
