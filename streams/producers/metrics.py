"""What producers count, as metrics. They share their counters with pipes, whose environment is a job's: those know no client library."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from .collector_settings import CollectorCounters
from .counters import ShippingCounters
from .pipe_intake import IntakeCounters


class _Family(NamedTuple):
    """One metric, and the field that it is read from."""

    field: str
    name: str
    documentation: str
    gauge: bool = False
    unit: str = ""


_COLLECTOR = (
    _Family("pieces", "pieces", "Pieces of text that were put into chunks."),
    _Family("lines", "lines", "Lines: pieces that ended with a newline."),
    _Family("bytes", "read_bytes", "Bytes read from files.", unit="bytes"),
    _Family("chunks", "chunks", "Chunks handed over for shipping."),
    _Family("files", "files", "Files followed now.", gauge=True),
    _Family("files_refused", "files_refused", "Files that no job could be told for, or that could not be read."),
    _Family(
        "files_untrusted",
        "files_untrusted",
        "Of these, files that may not speak for the job that their name tells, or that stand behind a link.",
    ),
)
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
_INTAKE = (
    _Family("connections", "connections", "Connections of pipes."),
    _Family("entries", "entries", "Messages of pipes that the broker has."),
    _Family(
        "refused",
        "refused",
        "Messages refused for good: their user may not speak for the job, or they are none of a pipe's.",
    ),
    _Family(
        "turned_away",
        "turned_away",
        "Connections that were closed because they wrote no entries, or because their user has too many.",
    ),
)


class CollectorMetrics:
    """What a collector read."""

    def __init__(self, counters: CollectorCounters | None = None) -> None:
        self.collector = _Reader("schedmate_collector", _COLLECTOR, counters or CollectorCounters())


class ShippingMetrics:
    """What became of a producer's messages."""

    def __init__(self, counters: ShippingCounters | None = None) -> None:
        self.shipping = _Reader("schedmate_shipping", _SHIPPING, counters or ShippingCounters())


class IntakeMetrics:
    """What a collector took from pipes."""

    def __init__(self, counters: IntakeCounters | None = None) -> None:
        self.intake = _Reader("schedmate_pipe_intake", _INTAKE, counters or IntakeCounters())


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
