"""The names of all metrics, as Prometheus sees them."""

from schedmate.services.metrics import GROUPS
from schedmate.services.sink import RunningJobs
from schedmate.services.telemetry import metrics_of

SERIES = RunningJobs(lambda _: [], 1).describe()
"""Those of running jobs, which docs/redis.md describes."""
FAMILIES = [family for _, make in GROUPS for metric in metrics_of(make()) for family in metric.collect()]
_SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
METRICS = {f"{family.name}{suffix}" for family in FAMILIES for suffix in _SUFFIXES[family.type]}
NAMES = (
    METRICS | {family.name for family in FAMILIES if family.type == "histogram"} | {family.name for family in SERIES}
)
NAMES |= {"schedmate_build_info"}
"""What a page may name: also a histogram as a whole."""
