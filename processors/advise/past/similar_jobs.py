"""Past jobs by their vectors."""

from collections.abc import Sequence
from typing import Protocol

from .embedding import Embed
from .job import PastJob, SubmittedJob
from .vectors import MOST, VectorIndex


class SimilarJobs(Protocol):
    """Finds past jobs by one kind of vector."""

    def add(self, past: PastJob) -> None:
        """Take in a job that ended; one of which too little is known is passed over."""

    def extend(self, pasts: Sequence[PastJob]) -> None:
        """Take in many jobs, in the order of their ends."""

    def nearest(self, job: SubmittedJob, count: int, threshold: float) -> Sequence[tuple[PastJob, float]] | None:
        """Return the past jobs whose cosine is at least `threshold`, the nearest first, the newest of equals first, and the cosines.

        None where too little is known of `job`.
        """


class MemorySimilarJobs:
    """In this process, searched exactly.

    Args:
        embed: Gives the vectors.
        most: Jobs kept, the newest.
    """

    def __init__(self, embed: Embed, most: int = MOST) -> None:
        self._embed, self._most = embed, most
        self._index: VectorIndex | None = None
        self._jobs: dict[int, PastJob] = {}

    def add(self, past: PastJob) -> None:
        """Take in a job that ended."""
        vector = self._embed(past.about)
        if vector is None:
            return
        if self._index is None:
            self._index = VectorIndex(self._most, len(vector))
        self._jobs[self._index.add(vector)] = past

    def extend(self, pasts: Sequence[PastJob]) -> None:
        """Take in many jobs."""
        for past in pasts:
            self.add(past)

    def nearest(self, job: SubmittedJob, count: int, threshold: float) -> Sequence[tuple[PastJob, float]] | None:
        """Return the nearest past jobs."""
        vector = self._embed(job)
        if vector is None:
            return None
        found = self._index.nearest(vector, count, threshold) if self._index else []
        return [(self._jobs[place], cosine) for place, cosine in found]
