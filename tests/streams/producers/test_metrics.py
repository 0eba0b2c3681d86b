"""What shipping counts reaches Prometheus, all of it."""

from dataclasses import fields

from streams.producers.counters import ShippingCounters
from streams.producers.metrics import ShippingMetrics


def test_every_counter_is_served_as_it_stands() -> None:
    counters = ShippingCounters()
    metrics = ShippingMetrics(counters)
    for number, field in enumerate(fields(counters), 1):
        setattr(counters, field.name, number)
    values = [sample.value for family in metrics.shipping.collect() for sample in family.samples]
    assert sorted(values) == list(range(1, len(fields(counters)) + 1))
