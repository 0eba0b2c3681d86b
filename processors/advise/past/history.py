"""The jobs that ended, as an estimator asks for them."""

from collections import OrderedDict, deque
from collections.abc import Hashable, Sequence
from typing import Protocol

from .command_line import fingerprint
from .embedding import command_vector, record_vector
from .job import PastJob, SubmittedJob
from .similar_jobs import MemorySimilarJobs, SimilarJobs
from .vectors import MOST

RUNS = 16
"""Earlier runs kept of one job."""


class JobHistory(Protocol):
    """Past jobs as an estimator needs them."""

    def resubmissions(self, job: SubmittedJob) -> Sequence[PastJob]:
        """Return earlier runs of the same directory, command and branch, the newest first; else of the same fingerprint there."""

    def similar(self, job: SubmittedJob, count: int, threshold: float) -> Sequence[tuple[PastJob, float]]:
        """Return past jobs whose cosine with `job` is at least `threshold`, the nearest first, and the cosines.

        A job whose metadata record is known is compared by it with the past jobs whose record is known, another by its command with all.
        """


class MemoryHistory:
    """Earlier runs in memory, of the newest `most` jobs; about 2 KB a job, 3 KB with its metadata record, vectors included.

    Args:
        most: Jobs kept.
        commands: Finds jobs by their command lines; in memory where not given.
        records: Finds jobs by their metadata records; likewise.
    """

    def __init__(
        self, most: int = MOST, commands: SimilarJobs | None = None, records: SimilarJobs | None = None
    ) -> None:
        self._most, self._added = most, 0
        self._runs: OrderedDict[Hashable, deque[PastJob]] = OrderedDict()
        self._commands = commands or MemorySimilarJobs(command_vector, most)
        self._records = records or MemorySimilarJobs(record_vector, most)

    def __len__(self) -> int:
        return min(self._added, self._most)

    def add(self, past: PastJob) -> None:
        """Take in a job that ended."""
        self.extend([past])

    def extend(self, pasts: Sequence[PastJob]) -> None:
        """Take in many jobs, in the order of their ends."""
        for past in pasts:
            for key in _keys(past.about):
                self._runs.setdefault(key, deque(maxlen=RUNS)).appendleft(past)
                self._runs.move_to_end(key)
            while len(self._runs) > 2 * self._most:
                self._runs.popitem(last=False)
        self._commands.extend(pasts)
        self._records.extend(pasts)
        self._added += len(pasts)

    def resubmissions(self, job: SubmittedJob) -> Sequence[PastJob]:
        """Return earlier runs, the newest first; those of the very same command where there are any."""
        return next((list(runs) for key in _keys(job) if (runs := self._runs.get(key))), [])

    def similar(self, job: SubmittedJob, count: int, threshold: float) -> Sequence[tuple[PastJob, float]]:
        """Return the nearest past jobs."""
        found = self._records.nearest(job, count, threshold)
        return (self._commands.nearest(job, count, threshold) or []) if found is None else found


def _keys(job: SubmittedJob) -> list[Hashable]:
    """Return what runs of one job share, the narrowest first; none where its directory or command is not known."""
    if not job.directory or not job.command:
        return []
    return [(job.directory, job.command, job.branch), (job.directory, fingerprint(job.command))]
