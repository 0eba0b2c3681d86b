"""The jobs that ended, as an estimator asks for them."""

from collections import OrderedDict, deque
from collections.abc import Hashable, Sequence
from typing import Protocol

from .command_line import fingerprint
from .embedding import Vector, embed_command, embed_workload
from .job import PastJob, SubmittedJob
from .vectors import MOST, VectorIndex

RUNS = 16
"""Earlier runs kept of one job."""


class JobHistory(Protocol):
    """What an estimator needs of the past."""

    def resubmissions(self, job: SubmittedJob) -> Sequence[PastJob]:
        """Return earlier runs of the same directory, command and branch, the newest first; else of the same fingerprint there."""

    def similar(self, job: SubmittedJob, count: int, threshold: float) -> Sequence[tuple[PastJob, float]]:
        """Return past jobs whose cosine with `job` is at least `threshold`, the nearest first, and the cosines.

        A job whose metadata record is known is compared by it with the past jobs whose record is known, another by its command with all.
        """


class MemoryHistory:
    """A history in memory, of the newest `most` jobs; about 2 KB a job, 3 KB with its metadata record."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._runs: OrderedDict[Hashable, deque[PastJob]] = OrderedDict()
        self._commands, self._workloads = _Searchable(most), _Searchable(most)

    def __len__(self) -> int:
        return len(self._commands)

    def add(self, past: PastJob) -> None:
        """Take in a job that ended."""
        for key in _keys(past.about):
            self._runs.setdefault(key, deque(maxlen=RUNS)).appendleft(past)
            self._runs.move_to_end(key)
        while len(self._runs) > 2 * self._most:
            self._runs.popitem(last=False)
        self._commands.add(embed_command(past.about), past)
        vector = _of_workload(past.about)
        if vector is not None:
            self._workloads.add(vector, past)

    def resubmissions(self, job: SubmittedJob) -> Sequence[PastJob]:
        """Return earlier runs, the newest first; those of the very same command where there are any."""
        return next((list(runs) for key in _keys(job) if (runs := self._runs.get(key))), [])

    def similar(self, job: SubmittedJob, count: int, threshold: float) -> Sequence[tuple[PastJob, float]]:
        """Return the nearest past jobs."""
        vector = _of_workload(job)
        if vector is not None:
            return self._workloads.nearest(vector, count, threshold)
        return self._commands.nearest(embed_command(job), count, threshold)


class _Searchable:
    """Jobs by their vectors."""

    def __init__(self, most: int) -> None:
        self._index, self._jobs = VectorIndex(most), dict[int, PastJob]()

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, vector: Vector, past: PastJob) -> None:
        self._jobs[self._index.add(vector)] = past

    def nearest(self, vector: Vector, count: int, threshold: float) -> list[tuple[PastJob, float]]:
        found = self._index.nearest(vector, count, threshold) if vector.any() else []
        return [(self._jobs[place], cosine) for place, cosine in found]


def _of_workload(job: SubmittedJob) -> Vector | None:
    """Return the vector of a job's metadata record; None where there is none, or it says too little."""
    vector = embed_workload(job.workload) if job.workload else None
    return vector if vector is not None and vector.any() else None


def _keys(job: SubmittedJob) -> list[Hashable]:
    """Return what runs of one job share, the narrowest first; none where its directory or command is not known."""
    if not job.directory or not job.command:
        return []
    return [(job.directory, job.command, job.branch), (job.directory, fingerprint(job.command))]
