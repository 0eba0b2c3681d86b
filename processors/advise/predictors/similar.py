"""Past jobs that a new one may repeat: the last of its user, its group and its queue, with what relates each to it.

A cluster's mix changes from month to month, so that durations learned by heart age quickly. That a job takes as long as *one of
the last few of its user* ages slowly; which one is what a model can learn.
"""

import math
from collections import OrderedDict, deque
from collections.abc import Hashable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from .dataset import Matrix, Vector, replay
from .history import KEYS_KEPT, NAN, RUNNING_KEPT
from .job import Completion, Submission

LAST = {"user": 24, "group": 8, "queue": 8}
"""Number of past jobs of each kind that are compared."""
CLOSE, NEAR = 0.22, 0.69
"""ln 1.25 and ln 2: durations that agree, more or less."""
RELATIONS = (
    "rank", "same_user", "same_group", "same_gpus", "gpu_ratio", "same_cpus", "same_queue", "same_workload", "since_end",
    "since_submission", "failed", "y", "agree_closely", "agree", "share_below", "oldest_less_y", "youngest_less_y",
    "running_alike", "running", "candidates_of_user", "spread", "hour", "gpus",
)  # fmt: skip

Relations = NDArray[np.float32]


class Candidates(msgspec.Struct, frozen=True):
    """Past jobs that one submission may repeat."""

    x: Relations
    """Relations of each past job to the submission, shape (candidates, len(RELATIONS))."""
    y: Vector
    """ln(1 + duration) of each, shape (candidates,)."""
    jobs: tuple[str, ...]
    """Their ids."""


class Recent:
    """The last jobs of each user, group and queue. Bounded: what had no news for longest is forgotten."""

    def __init__(self) -> None:
        self._ended: OrderedDict[Hashable, deque[Completion]] = OrderedDict()
        self._running: OrderedDict[str, OrderedDict[str, Submission]] = OrderedDict()

    def submit(self, job: Submission) -> None:
        """Remember that a job waits or runs."""
        running = self._running.setdefault(job.user, OrderedDict())
        self._running.move_to_end(job.user)
        running[job.job_id] = job
        if len(running) > RUNNING_KEPT:
            running.popitem(last=False)
        if len(self._running) > KEYS_KEPT:
            self._running.popitem(last=False)

    def withdraw(self, job: Submission) -> None:
        """Remember that a job neither waits nor runs any more, and never ran."""
        self._running.get(job.user, OrderedDict()).pop(job.job_id, None)

    def complete(self, done: Completion) -> None:
        """Remember how long a job took."""
        job = done.job
        self._running.get(job.user, OrderedDict()).pop(job.job_id, None)
        for kind, text in (("user", job.user), ("group", job.group), ("queue", job.queue)):
            if text:
                self._ended.setdefault((kind, text), deque(maxlen=LAST[kind])).append(done)
                self._ended.move_to_end((kind, text))
        while len(self._ended) > KEYS_KEPT:
            self._ended.popitem(last=False)

    def candidates(self, job: Submission) -> Candidates:
        """Return the past jobs to weigh for a submission; none is an answer."""
        past: list[tuple[int, Completion]] = []
        seen: set[str] = set()
        for kind, text in (("user", job.user), ("group", job.group), ("queue", job.queue)):
            for rank, done in enumerate(reversed(self._ended.get((kind, text), ()))):
                if done.job.job_id not in seen:
                    seen.add(done.job.job_id)
                    past.append((rank, done))
        if not past:
            return Candidates(np.empty((0, len(RELATIONS)), np.float32), np.empty(0), ())
        return self._related(job, past)

    def _related(self, job: Submission, past: list[tuple[int, Completion]]) -> Candidates:
        now, jobs = job.submitted, [done.job for _, done in past]
        y = np.log1p([max(0.0, done.duration_s) for _, done in past])
        own = np.array([bool(job.user) and one.user == job.user for one in jobs])
        gpus = np.array([one.gpus for one in jobs])
        running = self._running.get(job.user, OrderedDict[str, Submission]()).values()
        ages = [math.log1p(max(0.0, now - one.submitted)) for one in running if one.gpus == job.gpus]
        x = np.empty((len(past), len(RELATIONS)), np.float32)
        x[:, 0] = [rank for rank, _ in past]
        x[:, 1] = own
        x[:, 2] = [bool(job.group) and one.group == job.group for one in jobs]
        x[:, 3] = gpus == job.gpus
        x[:, 4] = np.log((gpus + 0.1) / (job.gpus + 0.1))
        x[:, 5] = [one.cpus == job.cpus for one in jobs]
        x[:, 6] = [one.queue == job.queue for one in jobs]
        x[:, 7] = [one.workload == job.workload for one in jobs]
        x[:, 8] = np.log1p([max(0.0, now - done.ended) for _, done in past])
        x[:, 9] = np.log1p([max(0.0, now - one.submitted) for one in jobs])
        x[:, 10] = [done.failed for _, done in past]
        x[:, 11] = y
        if own.any():
            apart = y[own][None, :] - y[:, None]
            x[:, 12] = (np.abs(apart) < CLOSE).mean(axis=1)
            x[:, 13] = (np.abs(apart) < NEAR).mean(axis=1)
            x[:, 14] = (apart < 0).mean(axis=1)
        else:
            x[:, 12:15] = NAN
        x[:, 15] = max(ages, default=NAN) - y
        x[:, 16] = min(ages, default=NAN) - y
        x[:, 17:] = (
            len(ages),
            len(running),
            own.sum(),
            y[own].std() if own.any() else NAN,
            now % 86_400 / 3600,
            job.gpus,
        )
        return Candidates(x, y, tuple(one.job_id for one in jobs))


class CandidateTable(msgspec.Struct, frozen=True):
    """The candidates of many submissions, one after the other."""

    x: Relations
    y: Vector
    starts: NDArray[np.int64]
    """Start of each submission's candidates, and end of the last one's; shape (submissions + 1,)."""

    def candidates_of(self, row: int) -> slice:
        """Return where the candidates of a submission are."""
        return slice(int(self.starts[row]), int(self.starts[row + 1]))

    def rows(self, first: int, last: int) -> "CandidateTable":
        """Return the table of the submissions from `first` to before `last`."""
        part = slice(int(self.starts[first]), int(self.starts[last]))
        return CandidateTable(self.x[part], self.y[part], self.starts[first : last + 1] - self.starts[first])

    def owners(self) -> NDArray[np.int64]:
        """Return the row of the submission to which each candidate belongs."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def gather(jobs: Sequence[Completion], *, known_until: float = math.inf) -> CandidateTable:
    """Return the candidates of all jobs in the order of submission, each from what had ended before; see `dataset.build`."""
    recent, found = Recent(), []
    for event in replay(jobs):
        if isinstance(event, Submission):
            found.append(recent.candidates(event))
            if event.submitted < known_until:
                recent.submit(event)
        elif event.ended < known_until:
            recent.complete(event)
    starts = np.concatenate([[0], np.cumsum([len(one.y) for one in found])]).astype(np.int64)
    x = np.concatenate([one.x for one in found]) if found else np.empty((0, len(RELATIONS)), np.float32)
    return CandidateTable(x, np.concatenate([one.y for one in found]) if found else np.empty(0), starts)


SUMMARY = ("q05", "q25", "q50", "q75", "q95", "mode", "agreement", "weight", "best")
_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
BANDWIDTH = 0.4
"""Width of the kernel, in y, under which candidates support each other."""


def weights_of(probability: Vector) -> Vector:
    """Return each candidate's weight: the squared odds that it is close, so that a few good ones outweigh many poor ones."""
    odds = probability / np.maximum(1e-3, 1 - probability)
    return np.maximum(np.square(odds), 1e-12)


def summarise(y: Vector, weight: Vector) -> Matrix:
    """Return weighted quantiles, mode and support of candidates (the numbers of `SUMMARY`); NaN where there is none."""
    if not len(y):
        return np.full(len(SUMMARY), NAN)
    order = np.argsort(y, kind="stable")
    y, weight = y[order], weight[order]
    total = weight.sum()
    support = np.exp(-np.square((y[:, None] - y[None, :]) / BANDWIDTH)) @ weight
    best = int(support.argmax())
    return np.array(
        [
            *np.interp(_LEVELS, (np.cumsum(weight) - weight / 2) / total, y),
            y[best],
            support[best] / total,
            math.log(total),
            weight.max(),
        ]
    )
