"""Everything that is counted: which counters each component has. The one list behind `/metrics` and docs/metrics.md."""

from processors.job import Counters as ProcessorCounters
from streams.runtimes.engine import Counters as WorkerCounters
from streams.runtimes.pump import Counters as PumpCounters

COMPONENTS: dict[str, tuple[type, str]] = {
    "worker": (WorkerCounters, "worker"),
    "processors": (ProcessorCounters, "worker"),
    "pump": (PumpCounters, "sink, bridge"),
}
"""Counters and the commands that serve them, by component."""
