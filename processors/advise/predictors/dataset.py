"""A table of features, made by replaying jobs in the order of time."""

import heapq
from collections.abc import Iterator, Sequence
from itertools import count

import msgspec
import numpy as np
from numpy.typing import NDArray

from .features import Encoders
from .history import History
from .job import Completion, Submission

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


class Dataset(msgspec.Struct, frozen=True):
    """Rows in the order of submission."""

    jobs: list[Completion]
    x: Matrix
    """Features, shape (jobs, len(NAMES))."""
    y: Vector
    """ln(1 + duration in seconds), shape (jobs,)."""

    def __len__(self) -> int:
        return len(self.jobs)

    def select_rows(self, rows: slice | NDArray[np.bool_]) -> "Dataset":
        """Return some of the rows."""
        chosen = np.arange(len(self.jobs))[rows]
        return Dataset([self.jobs[row] for row in chosen], self.x[chosen], self.y[chosen])


def replay(jobs: Sequence[Completion]) -> Iterator[Submission | Completion]:
    """Yield submissions and ends as a scheduler sees them; a job that ends at the very moment of a submission ends after it."""
    ends: list[tuple[float, int, Completion]] = []
    order = count()
    for done in sorted(jobs, key=lambda one: one.job.submitted):
        while ends and ends[0][0] < done.job.submitted:
            yield heapq.heappop(ends)[2]
        yield done.job
        heapq.heappush(ends, (done.ended, next(order), done))
    while ends:
        yield heapq.heappop(ends)[2]


def build(jobs: Sequence[Completion], encoders: Encoders, *, known_until: float = float("inf")) -> Dataset:
    """Return the features of all jobs, each from what had ended before its submission.

    Args:
        jobs: any order, each with an id of its own.
        encoders: fitted on the training jobs alone.
        known_until: nothing that happens from this time on enters any history (Unix seconds).
    """
    history = History(encoders.prior)
    ordered = sorted(jobs, key=lambda one: one.job.submitted)
    rows = []
    for event in replay(ordered):
        happens = event.ended if isinstance(event, Completion) else event.submitted
        if isinstance(event, Submission):
            rows.append(encoders.row(event, history))
        if happens < known_until:
            if isinstance(event, Submission):
                history.submit(event, encoders.keys(event))
            else:
                history.complete(event, encoders.keys(event.job))
    x = np.asarray(rows, dtype=np.float64).reshape(len(ordered), -1)
    return Dataset(ordered, x, np.log1p([one.duration_s for one in ordered]))
