"""Watches Kubernetes: threads keep its jobs and pods, and each look compares them with what was reported."""

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from schedmate_records import JobEvent
from schedmate_records.metrics import MetricFactory
from streams.transport import Producer

from ...job_watcher import JobWatcher, JobWatcherMetrics
from ..client.client import KubernetesClient
from ..client.errors import KubernetesError, KubernetesUnavailable
from ..client.objects import Node, Pod
from ..client.store import Informer
from ..client.workloads.kind import WorkloadObject
from ..client.workloads.kinds import KINDS
from .changes import ReportedJob, changes


class KubernetesWatcherMetrics(JobWatcherMetrics):
    """Metrics of the watcher."""

    def __init__(self) -> None:
        super().__init__("kubernetes", "Kubernetes")
        make = MetricFactory("schedmate_kubernetes_watcher")
        self.nodes = make.gauge("nodes", "Nodes that are ready.")
        self.lists = make.gauge(
            "lists", "Full listings of Jobs, Pods or Nodes: at the start, and after a watch expired (410)."
        )


class KubernetesWatcher(JobWatcher[ReportedJob]):
    """Turns what changes among a cluster's jobs, of all known kinds, and pods into job events.

    Jobs that came and were deleted while no watcher ran are lost to it.

    Args:
        connect: Connects to the broker; called in another thread.
        checkpoint: The file; its directory is created.
        namespace: The only namespace to watch; all where empty.
        memory: Bytes of events that may wait.
    """

    metrics: KubernetesWatcherMetrics
    known, scheduler, away = ReportedJob, "Kubernetes", KubernetesError

    def __init__(
        self,
        connect: Callable[[], Producer],
        checkpoint: Path,
        client: KubernetesClient,
        *,
        namespace: str = "",
        clock: Callable[[], float] = time.time,
        memory: int = 8 << 20,
    ) -> None:
        super().__init__(connect, checkpoint, KubernetesWatcherMetrics(), clock, memory)
        self._changed = threading.Event()
        self.pods = Informer(client, Pod, self._changed.set, namespace)
        self.nodes = Informer(client, Node, self._changed.set)
        self.jobs: list[Informer[WorkloadObject]] = [
            Informer(client, kind, self._changed.set, namespace) for kind in KINDS
        ]

    def watch(self, stop: threading.Event) -> None:
        """Begin to list and watch, each kind in a thread of its own, until `stop` is set."""
        for store in self._stores():
            threading.Thread(target=store.run, args=(stop,), daemon=True, name="kubernetes-watch").start()

    def run(self, stop: threading.Event, interval: float = 1.0) -> None:
        """Watch until `stop` is set. A look follows each change at once, but not sooner than `interval` after the last one."""
        self.watch(stop)
        while not stop.is_set():
            self._changed.clear()
            self.poll()
            stop.wait(max(interval, self._pause_s))
            self._changed.wait(interval)

    def look(self, known: Mapping[str, ReportedJob], now: float) -> tuple[list[JobEvent], dict[str, ReportedJob], int]:
        """Compare what there is with what was reported.

        Raises:
            KubernetesUnavailable: It was not listed yet, or a watch broke off.
        """
        pods, listed = self.pods.objects(), [store.objects() for store in self.jobs]
        stores = self._stores()
        if broken := next((store.error for store in stores if store.error), None):
            raise broken
        if pods is None or None in listed:
            raise KubernetesUnavailable("lists of jobs and pods", "none yet", "they are asked for")
        self.metrics.nodes.set(sum(node.ready for node in self.nodes.objects() or ()))
        self.metrics.lists.set(sum(store.lists for store in stores))
        jobs = [job for found in listed for job in found or ()]
        events, after = changes(known, jobs, pods, now)
        return events, after, len(jobs)

    def _stores(self) -> "list[Informer[Pod] | Informer[Node] | Informer[WorkloadObject]]":
        return [self.pods, self.nodes, *self.jobs]
