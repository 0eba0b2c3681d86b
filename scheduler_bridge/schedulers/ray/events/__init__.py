"""Job events from Ray, by looks at the list of its Jobs API."""

from .watcher import RayWatcher, RayWatcherMetrics

__all__ = ["RayWatcher", "RayWatcherMetrics"]
