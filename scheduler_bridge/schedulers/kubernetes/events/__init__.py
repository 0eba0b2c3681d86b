"""Job events from Kubernetes, by list and watch of its Jobs and Pods."""

from .watcher import KubernetesWatcher, KubernetesWatcherMetrics

__all__ = ["KubernetesWatcher", "KubernetesWatcherMetrics"]
