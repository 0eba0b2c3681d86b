"""The interference monitor: jobs that run slower since another was packed beside them."""

from .monitor import InterferenceCounters, InterferenceMonitor, InterferenceState

__all__ = ["InterferenceCounters", "InterferenceMonitor", "InterferenceState"]
