"""The names of all metrics, as Prometheus sees them."""

from dataclasses import fields

from schedmate.metrics import COMPONENTS
from schedmate.telemetry import GAUGES

METRICS = {
    f"schedmate_{component}_{field.name}{'' if field.name in GAUGES else '_total'}"
    for component, (counters, _) in COMPONENTS.items()
    for field in fields(counters)
}
