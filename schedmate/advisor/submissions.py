"""Job events in, an estimate for each submission out; jobs that end become history."""

from collections.abc import Callable, Sequence

from processors.advise.past import MemoryHistory, PastEstimator, PastJob, SubmittedJob
from records import Estimate, EventKind, JobEvent, Position, Record, derived_id
from records.job_event import PIPE_SAYS

from .history_file import HistoryFile

FORGET_EVERY = 10_000
"""Events between two looks for what may be forgotten."""


class SubmissionAdvisor:
    """Answers submissions. What it told is stored with the event, so that a replay tells the same, and after it was acknowledged.

    Args:
        store: What lasts.
        publish: Returns once an estimate is acknowledged.
    """

    def __init__(self, store: HistoryFile, publish: Callable[[Sequence[Estimate]], None]) -> None:
        self._store, self._publish = store, publish
        self._history: MemoryHistory = store.load()
        self._estimator = PastEstimator(self._history)
        self._seen = 0

    def handle(self, batch: Sequence[tuple[Position, Record]]) -> None:
        """Take in events; returns once what follows from them lasts."""
        made: list[Estimate] = []
        for position, record in batch:
            if isinstance(record, JobEvent) and record.scheduler not in PIPE_SAYS:
                made += self._take(position, record)
                self._seen += 1
                if self._seen % FORGET_EVERY == 0:
                    self._store.forget(record.time)
        self._publish(made)
        self._store.commit()

    def _take(self, position: Position, event: JobEvent) -> list[Estimate]:
        name = f"{event.job}/{event.attempt}"
        match event.kind:
            case EventKind.SUBMITTED:
                return [self._estimate(position, event)]
            case EventKind.STARTED:
                self._store.open(name, event)
            case EventKind.ENDED:
                self._ended(name, event)
            case _:
                pass
        return []

    def _estimate(self, position: Position, event: JobEvent) -> Estimate:
        known = self._store.estimate_at(event.id)
        if known is not None:
            return known
        found = self._estimator.estimate(submitted_job(event))
        estimate = Estimate(
            id=derived_id("estimate", event.job, position),
            job=event.job,
            attempt=event.attempt,
            time=event.time,
            duration_s=found.duration_s,
            duration_low_s=found.low_s,
            duration_high_s=found.high_s,
            gpu_utilisation=found.gpu_utilisation,
            similar_jobs=list(found.jobs),
            method=found.method,
        )
        self._store.tell(event.id, estimate)
        return estimate

    def _ended(self, name: str, event: JobEvent) -> None:
        start = self._store.opened(name)
        if start is None or event.time < start.time:
            return
        about = submitted_job(event if event.command else start)
        well = event.state == "COMPLETED" or (event.exit_code == 0 and not event.signal)
        past = PastJob(about=about, ended=event.time, duration_s=event.time - start.time, completed=well)
        if self._store.add(name, past):
            self._history.add(past)


def submitted_job(event: JobEvent) -> SubmittedJob:
    """Return what an event tells of its job."""
    return SubmittedJob(
        job=event.job, user=event.user, command=event.command, directory=event.directory, branch=event.branch
    )
