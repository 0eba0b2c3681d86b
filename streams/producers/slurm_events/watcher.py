"""Watches Slurm by looking at its list of jobs."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from prometheus_client import Gauge

from records import JobEvent
from scheduler_clients.slurm import SlurmClient, SlurmCommands, SlurmError
from scheduler_clients.slurm.cluster_names import qualified
from scheduler_clients.slurm.kept_jobs import KeptJobs
from streams.producers.job_watcher import JobWatcher, JobWatcherMetrics
from streams.transport import Producer

from .changes import Known, changes
from .keeper import Keeper


class SlurmWatcherMetrics(JobWatcherMetrics):
    """What the watcher did since it started."""

    def __init__(self) -> None:
        super().__init__("slurm", "Slurm")
        self.unreadable = Gauge(
            "schedmate_slurm_watcher_unreadable_jobs",
            "Jobs now whose record cannot be told from a text of their user.",
            registry=None,
        )


class SlurmWatcher(JobWatcher[Known]):
    """Turns what changes in Slurm's list of jobs into job events.

    Jobs that came and went while no watcher ran for longer than Slurm's MinJobAge are lost to it.

    Args:
        connect: Connects to the broker; called in another thread.
        checkpoint: The file; its directory must be there.
        client: Slurm.
        clock: Seconds since 1970.
        memory: Bytes of events that may wait.
        kept: Where scripts of jobs are kept; None: nowhere.
        cluster: The cluster that the client speaks to, which stands before its jobs' ids; empty for the local one.
    """

    metrics: SlurmWatcherMetrics

    def __init__(
        self,
        connect: Callable[[], Producer],
        checkpoint: Path,
        client: SlurmClient | None = None,
        clock: Callable[[], float] = time.time,
        memory: int = 8 << 20,
        *,
        kept: KeptJobs | None = None,
        cluster: str = "",
    ) -> None:
        super().__init__(
            connect,
            checkpoint,
            known=Known,
            scheduler="Slurm",
            away=SlurmError,
            metrics=SlurmWatcherMetrics(),
            clock=clock,
            memory=memory,
        )
        self._cluster = cluster
        self._client = client or SlurmClient(SlurmCommands(cluster=cluster))
        self._keeper = Keeper(self._client, kept) if kept else None

    def look(self, known: Mapping[str, Known], now: float) -> tuple[list[JobEvent], dict[str, Known], int]:
        """Compare Slurm's list with what was told."""
        jobs = self._client.jobs()
        named = {qualified(self._cluster, name): job for name, job in jobs.items()}
        events, after = changes(known, named, now, self._client.gpus)
        self.metrics.unreadable.set(self._client.unreadable)
        if self._keeper:
            self._keeper.look(jobs)
        return events, after, len(jobs)
