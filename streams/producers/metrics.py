"""What shipping counts, as metrics. A pipe ships too, in a job's environment: what they share knows no client library."""

from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from .counters import ShippingCounters


class ShippingMetrics:
    """Metrics of one collector."""

    def __init__(self, counters: ShippingCounters | None = None) -> None:
        self.shipping = _Reader(counters or ShippingCounters())


class _Reader(Collector):
    """Reads counters whenever Prometheus asks."""

    def __init__(self, counters: ShippingCounters) -> None:
        self._counters = counters

    def collect(self) -> Iterator[Metric]:
        """Yield one family a counter."""
        now = self._counters
        name = "schedmate_collector"
        yield CounterMetricFamily(f"{name}_pieces", "Pieces of text that were put into chunks.", now.pieces)
        yield CounterMetricFamily(f"{name}_lines", "Lines: pieces that ended with a newline.", now.lines)
        yield CounterMetricFamily(f"{name}_read_bytes", "Bytes read from files.", now.bytes, unit="bytes")
        yield CounterMetricFamily(f"{name}_chunks", "Chunks handed over for shipping.", now.chunks)
        yield CounterMetricFamily(
            f"{name}_acknowledged", "Messages that the broker has acknowledged.", now.acknowledged
        )
        yield CounterMetricFamily(f"{name}_spooled_chunks", "Chunks that went to disk.", now.spooled_chunks)
        yield GaugeMetricFamily(f"{name}_spooled_bytes", "Bytes in spool files now.", now.spooled_bytes, unit="bytes")
        yield CounterMetricFamily(
            f"{name}_lost_lines", "Lines given up because disk or memory was full.", now.lost_lines
        )
        yield CounterMetricFamily(
            f"{name}_sends_failed", "Sends, and attempts to connect, that failed.", now.sends_failed
        )
        yield GaugeMetricFamily(
            f"{name}_broker_up", "1 while the broker acknowledges what is sent.", float(now.broker_up)
        )
        yield GaugeMetricFamily(f"{name}_files", "Files followed now.", now.files)
        yield CounterMetricFamily(
            f"{name}_files_refused",
            "Files that no job could be told for, or that could not be read.",
            now.files_refused,
        )
        yield CounterMetricFamily(
            f"{name}_files_untrusted",
            "Of these, files that may not speak for the job that their name tells, or that stand behind a link.",
            now.files_untrusted,
        )
