"""The interference monitor: jobs that run slower since another was packed beside them."""

from .monitor import InterferenceMetrics, InterferenceMonitor, InterferenceState

__all__ = ["InterferenceMetrics", "InterferenceMonitor", "InterferenceState"]
