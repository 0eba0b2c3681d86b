"""Watches Slurm by looking at its list of jobs."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import structlog

from schedmate_records import EventKind, JobEvent
from schedmate_records.cluster_names import qualified
from schedmate_records.metrics import MetricFactory
from streams.resilience import Outage
from streams.transport import Producer

from ...job_watcher import JobWatcher, JobWatcherMetrics
from ..client import ENDED, SlurmClient, SlurmCommands, SlurmError, SlurmJob, SlurmUnavailable
from ..client.kept_jobs import KeptJob, KeptJobs
from .changes import ReportedJob, changes, described
from .sources import SourceReader

log = structlog.get_logger(__name__)

ASKED = 50
"""Jobs that are asked about in one look, two commands each: many that start at once must not keep the watcher from looking."""


if TYPE_CHECKING:
    from .model_reader import ModelReader


class SlurmWatcherMetrics(JobWatcherMetrics):
    """Metrics of the watcher."""

    def __init__(self) -> None:
        super().__init__("slurm", "Slurm")
        make = MetricFactory("schedmate_slurm_watcher")
        self.sources_read = make.counter("sources_read", "Source trees of submitted jobs read.")
        self.sources_unread = make.counter(
            "sources_unread", "Submitted jobs whose source tree could not be read, or not in time."
        )
        self.sources_completed = make.counter(
            "sources_completed",
            "Jobs for which a language model found fields that the source reader did not, before they ended.",
        )
        self.unreadable = make.gauge(
            "unreadable_jobs", "Current jobs whose record could be a text that their user wrote."
        )


class SlurmWatcher(JobWatcher[ReportedJob]):
    """Turns what changes in Slurm's list of jobs into job events.

    Jobs that came and went while no watcher ran for longer than Slurm's MinJobAge are lost to it.

    Args:
        connect: Connects to the broker; called in another thread.
        checkpoint: The file; its directory is created.
        memory: Bytes of events that may wait.
        kept: Where scripts of jobs are kept; None: nowhere.
        cluster: The cluster that the client addresses, which prefixes its jobs' ids; empty for the local one.
        read_sources: Report what each submitted job trains, and of which branch it is, from its source tree.
        model: Looks for what that leaves unknown, while the job waits and runs; reported once it is found. None: no model is asked.
    """

    metrics: SlurmWatcherMetrics
    known, scheduler, away = ReportedJob, "Slurm", SlurmError

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
        read_sources: bool = False,
        model: "ModelReader | None" = None,
    ) -> None:
        super().__init__(connect, checkpoint, SlurmWatcherMetrics(), clock, memory)
        self._cluster = cluster
        self._client = client or SlurmClient(SlurmCommands(cluster=cluster))
        self._keeper = Keeper(self._client, kept) if kept else None
        self._sources = SourceReader(self._client.gpus) if read_sources else None
        self._model = model

    def look(self, known: Mapping[str, ReportedJob], now: float) -> tuple[list[JobEvent], dict[str, ReportedJob], int]:
        """Compare Slurm's list with what was reported."""
        jobs = self._client.jobs()
        named = {qualified(self._cluster, name): job for name, job in jobs.items()}
        events, after = changes(known, named, now, self._client.gpus)
        self.metrics.unreadable.set(self._client.unreadable)
        if self._keeper:
            self._keeper.look(jobs)
        if self._sources:
            events = self._with_sources(events, named)
        if self._model:  # first: a job that ended meanwhile was described before its end
            found = described(known, self._model.pop_results(), now)
            self.metrics.sources_completed.inc(len(found))
            events = [*found, *events]
        return events, after, len(jobs)

    def _with_sources(self, events: list[JobEvent], jobs: Mapping[str, SlurmJob]) -> list[JobEvent]:
        """Add what the submitted jobs among `events` train; those that are over already are not worth the time."""
        assert self._sources
        self._sources.begin()
        over = {event.job for event in events if event.kind is EventKind.ENDED}
        return [
            self._with_source(event, jobs[event.job])
            if event.kind is EventKind.SUBMITTED and event.job not in over
            else event
            for event in events
        ]

    def _with_source(self, event: JobEvent, job: SlurmJob) -> JobEvent:
        assert self._sources
        found = self._sources.read(job)
        (self.metrics.sources_read if found else self.metrics.sources_unread).inc()
        if found is None:
            return event
        if self._model:
            self._model.submit(event.job, job, found.workload)
        return msgspec.structs.replace(event, workload=found.workload, branch=found.branch)


class Keeper:
    """Keeps each batch job from its start on, and how it ended. Heterogeneous jobs and those without a script are left out.

    Args:
        client: Slurm; its user must be an operator to read the scripts of others.
    """

    def __init__(self, client: SlurmClient, kept: KeptJobs) -> None:
        self._client = client
        self._kept = kept
        self._seen: dict[str, tuple[int, bool]] = {}
        self._disk = Outage(
            "directory of kept jobs", consequence="jobs that start now are kept when it can be written again"
        )

    def look(self, jobs: Mapping[str, SlurmJob]) -> None:
        """Keep what is new among Slurm's jobs. What Slurm does not answer now is asked for at the next look."""
        self._seen = {name: seen for name, seen in self._seen.items() if name in jobs}
        asked = 0
        for name, job in jobs.items():
            now = (job.restarts, job.state in ENDED)
            if job.parts or not job.started or self._seen.get(name) == now:
                continue
            if asked == ASKED:
                return
            asked += 1
            try:
                self._keep(name, job)
            except SlurmUnavailable:
                return
            except SlurmError as error:
                log.info("job_not_kept", job=name, error=str(error))
            except OSError as error:
                self._disk.failed(error)
                return
            self._seen[name] = now
            self._disk.succeeded()

    def _keep(self, name: str, job: SlurmJob) -> None:
        known = self._kept.get(name)
        if known and (known.job.user, known.job.command) == (job.user, job.command):
            kept = KeptJob(job=job, script=known.script, columns=known.columns, successor=known.successor)
        else:
            kept = KeptJob(job=job, script=self._client.batch_script(name), columns=self._client.columns(name))
        self._kept.put(kept)
