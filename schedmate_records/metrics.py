"""Metrics of components. They belong to no registry until a command exports them, so a process can have any number of each."""

from collections.abc import Sequence

from prometheus_client import Counter, Gauge, Histogram


class MetricFactory:
    """Makes metrics whose names begin with `prefix`."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def counter(self, name: str, text: str, labels: Sequence[str] = (), *, unit: str = "") -> Counter:
        """Return a counter; `text` is its help."""
        return Counter(f"{self._prefix}_{name}", text, labels, unit=unit, registry=None)

    def gauge(self, name: str, text: str, labels: Sequence[str] = (), *, unit: str = "") -> Gauge:
        """Return a gauge; `text` is its help."""
        return Gauge(f"{self._prefix}_{name}", text, labels, unit=unit, registry=None)

    def histogram(
        self,
        name: str,
        text: str,
        labels: Sequence[str] = (),
        *,
        buckets: Sequence[float] = Histogram.DEFAULT_BUCKETS,
        unit: str = "",
    ) -> Histogram:
        """Return a histogram; `text` is its help, `buckets` are the upper limits of its buckets."""
        return Histogram(f"{self._prefix}_{name}", text, labels, unit=unit, registry=None, buckets=buckets)
