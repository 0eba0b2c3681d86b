"""Metrics of producers. Pipes run in a job's environment and know no client library: shippers count in plain numbers."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from schedmate_records.metrics import MetricFactory

from .counters import ShippingCounters


class _Family(NamedTuple):
    """One metric, and the field that it is read from."""

    field: str
    name: str
    documentation: str
    gauge: bool = False
    unit: str = ""


_SHIPPING = (
    _Family("acknowledged", "acknowledged", "Messages that the broker has acknowledged."),
    _Family("waiting", "waiting", "Messages in memory that it has not acknowledged yet.", gauge=True),
    _Family("spooled_chunks", "spooled_chunks", "Chunks that went to disk."),
    _Family("spooled_bytes", "spooled_bytes", "Bytes in spool files now.", gauge=True, unit="bytes"),
    _Family(
        "lost",
        "lost",
        "Lines, or GPU samples, given up because disk or memory was full, or because they were refused for good.",
    ),
    _Family("sends_failed", "sends_failed", "Sends, and attempts to connect, that failed."),
    _Family("broker_up", "broker_up", "1 while the broker acknowledges what is sent.", gauge=True),
)


class CollectorMetrics:
    """Metrics of a collector. The shipper's metrics cover the lines after that."""

    def __init__(self) -> None:
        make = MetricFactory("schedmate_collector")
        self.pieces = make.counter("pieces", "Pieces of text that were put into chunks.")
        self.lines = make.counter("lines", "Lines: pieces that ended with a newline.")
        self.read_bytes = make.counter("read_bytes", "Bytes read from files.", unit="bytes")
        self.chunks = make.counter("chunks", "Chunks handed over for shipping.")
        self.files = make.gauge("files", "Files that are read.")
        self.files_refused = make.counter("files_refused", "Files without a known job, or that could not be read.")
        self.files_untrusted = make.counter(
            "files_untrusted", "Files that may not report for the job in their name, or that are links."
        )
        self.files_rewritten = make.counter(
            "files_rewritten",
            "Files that were truncated or rewritten after they were read. They are read again from the beginning.",
        )
        self.skipped_bytes = make.counter(
            "skipped_bytes", "Holes in files, and runs of NUL bytes, that were skipped.", unit="bytes"
        )
        self.journal_unreadable = make.counter(
            "journal_unreadable",
            "Entries of the journal whose text could not be read; a placeholder is shipped in their place.",
        )


class ShippingMetrics:
    """Metrics of a producer's messages."""

    def __init__(self, counters: ShippingCounters | None = None) -> None:
        self.shipping = _Reader("schedmate_shipping", _SHIPPING, counters or ShippingCounters())


class IntakeMetrics:
    """Metrics of messages that a collector accepted from pipes."""

    def __init__(self) -> None:
        make = MetricFactory("schedmate_pipe_intake")
        self.connections = make.counter("connections", "Connections of pipes.")
        self.entries = make.counter("entries", "Messages of pipes that the broker acknowledged.")
        self.refused = make.counter(
            "refused", "Messages rejected: their user may not report for the job, or they are not messages of a pipe."
        )
        self.turned_away = make.counter(
            "turned_away",
            "Connections that were closed because they wrote no entries, or because their user has too many.",
        )


class _Reader(Collector):
    """Reads counters whenever Prometheus asks."""

    def __init__(self, prefix: str, families: Sequence[_Family], counters: Any) -> None:
        self._prefix, self._families, self._counters = prefix, families, counters

    def collect(self) -> Iterator[Metric]:
        """Yield one family a counter."""
        for each in self._families:
            kind = GaugeMetricFamily if each.gauge else CounterMetricFamily
            value = float(getattr(self._counters, each.field))
            yield kind(f"{self._prefix}_{each.name}", each.documentation, value, unit=each.unit)
