"""The jobs that ended, as an estimator asks for them."""

from collections import OrderedDict, deque
from collections.abc import Hashable, Sequence
from typing import Protocol

from .command_line import fingerprint
from .job import PastJob, SubmittedJob
from .vectors import MOST, VectorIndex, embed

RUNS = 16
"""Earlier runs kept of one job."""


class JobHistory(Protocol):
    """What an estimator needs of the past."""

    def resubmissions(self, job: SubmittedJob) -> Sequence[PastJob]:
        """Return earlier runs of the same directory, command and branch, the newest first; else of the same fingerprint there."""

    def similar(self, job: SubmittedJob, count: int, threshold: float) -> Sequence[tuple[PastJob, float]]:
        """Return past jobs whose cosine with `job` is at least `threshold`, the nearest first, and the cosines."""


class MemoryHistory:
    """A history in memory, of the newest `most` jobs; about 2 KB a job."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._runs: OrderedDict[Hashable, deque[PastJob]] = OrderedDict()
        self._index, self._jobs = VectorIndex(most), dict[int, PastJob]()

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, past: PastJob) -> None:
        """Take in a job that ended."""
        for key in _keys(past.about):
            self._runs.setdefault(key, deque(maxlen=RUNS)).appendleft(past)
            self._runs.move_to_end(key)
        while len(self._runs) > 2 * self._most:
            self._runs.popitem(last=False)
        self._jobs[self._index.add(embed(past.about))] = past

    def resubmissions(self, job: SubmittedJob) -> Sequence[PastJob]:
        """Return earlier runs, the newest first; those of the very same command where there are any."""
        return next((list(runs) for key in _keys(job) if (runs := self._runs.get(key))), [])

    def similar(self, job: SubmittedJob, count: int, threshold: float) -> Sequence[tuple[PastJob, float]]:
        """Return the nearest past jobs."""
        vector = embed(job)
        found = self._index.nearest(vector, count, threshold) if vector.any() else []
        return [(self._jobs[place], cosine) for place, cosine in found]


def _keys(job: SubmittedJob) -> list[Hashable]:
    """Return what runs of one job share, the narrowest first; none where its directory or command is not known."""
    if not job.directory or not job.command:
        return []
    return [(job.directory, job.command, job.branch), (job.directory, fingerprint(job.command))]
