"""The watcher: ships what changes in the directory."""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from schedmate_records import EventKind, JobEvent
from scheduler_bridge.schedulers.client_errors import SchedulerError
from scheduler_bridge.schedulers.job_watcher import JobWatcher, JobWatcherMetrics
from streams.transport import Producer

from .jobs import DirectoryJob, JobDirectory

KINDS = {
    "pending": EventKind.SUBMITTED,
    "running": EventKind.STARTED,
    "completed": EventKind.ENDED,
    "failed": EventKind.ENDED,
    "cancelled": EventKind.ENDED,
}


class ReportedJob(msgspec.Struct):
    """The last event that was shipped of a job.

    Attributes:
        attempt: The attempt.
        kind: The kind of the event.
    """

    attempt: int
    kind: str


class DirectoryWatcher(JobWatcher[ReportedJob]):
    """Compares the files of jobs with the last events.

    Args:
        connect: Connects to the broker.
        checkpoint: The file of the last events.
        path: The directory.
    """

    known, scheduler, away = ReportedJob, "Directory", SchedulerError

    def __init__(self, connect: Callable[[], Producer], checkpoint: Path, path: Path) -> None:
        super().__init__(connect, checkpoint, JobWatcherMetrics("directory", "the directory"))
        self._jobs = JobDirectory(path)

    def look(self, known: Mapping[str, ReportedJob], now: float) -> tuple[list[JobEvent], dict[str, ReportedJob], int]:
        """Return an event for each job whose attempt or state has changed."""
        jobs = self._jobs.read_all()
        events, after = [], {}
        for name, job in jobs.items():
            kind = EventKind.REQUEUED if job.state == "pending" and job.attempt else KINDS.get(job.state)
            if kind is None:
                if name in known:
                    after[name] = known[name]
                continue
            after[name] = ReportedJob(job.attempt, kind)
            if known.get(name) != after[name]:
                events.append(_event(name, job, kind, now))
        return events, after, len(jobs)


def _event(name: str, job: DirectoryJob, kind: EventKind, now: float) -> JobEvent:
    """Return the event. Its id follows from its content, so that an event that is shipped twice counts once."""
    ended = kind is EventKind.ENDED
    return JobEvent(
        id=f"directory/{name}/{job.attempt}/{kind}",
        job=name,
        attempt=job.attempt,
        kind=kind,
        time=now,
        scheduler="directory",
        nodes=job.nodes,
        user=job.user,
        exit_code=job.exit_code if ended else None,
        state=job.state.upper() if ended else "",
    )
