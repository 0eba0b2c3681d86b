"""What a metric of the Prometheus client says now."""

from collections.abc import Iterator

from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.samples import Sample


def value(metric: MetricWrapperBase, **labels: str) -> float:
    """Return the value under `labels`; of a histogram the number of observations; 0 where there is none."""
    return sum(sample.value for sample in _samples(metric) if sample.labels == labels)


def by_label(metric: MetricWrapperBase) -> dict[str, float]:
    """Return the values of a metric of one label that are not 0."""
    return {label: sample.value for sample in _samples(metric) for label in sample.labels.values() if sample.value}


def _samples(metric: MetricWrapperBase) -> Iterator[Sample]:
    (family,) = metric.collect()
    names = {family.name, f"{family.name}_total", f"{family.name}_count"}
    return (sample for sample in family.samples if sample.name in names)
