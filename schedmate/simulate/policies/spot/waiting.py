"""A queue of jobs in which the jobs of one size are a line: after one of them did not fit, the others need not be tried."""

import heapq
from bisect import insort
from collections.abc import Callable, Collection
from operator import itemgetter

from ...job import Job, Run, Status

Key = tuple[float, ...]
Size = tuple[float, int, str]


def size_of(job: Job) -> Size:
    """Return what decides whether a job fits: GPUs of a pod, pods and GPU type."""
    return job.gpus, job.pods, job.gpu_type


class WaitingQueue:
    """Jobs that wait.

    Args:
        key: What jobs are sorted by. Keys differ, and stay the same as long as a job waits.
    """

    def __init__(self, key: Callable[[Run], Key]) -> None:
        self._key = key
        self._lines: dict[Size, list[tuple[Key, Run]]] = {}
        self._since: list[tuple[float, int, Run]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, run: Run) -> None:
        """Add a job."""
        insort(self._lines.setdefault(size_of(run.job), []), (self._key(run), run), key=itemgetter(0))
        heapq.heappush(self._since, (run.waiting_since, run.order, run))
        self._count += 1

    def start(
        self, start: Callable[[Run], bool], *, backfills: bool = True, without: Collection[Size] = ()
    ) -> set[Size]:
        """Start jobs in order, and remove those that started. After a job that did not start, no other of its size is tried.

        Args:
            start: Starts a job, or returns False.
            backfills: Jobs behind one that did not start are tried.
            without: Sizes that are not tried.

        Returns:
            The sizes that did not start.
        """
        heads = [(line[0][0], size) for size, line in self._lines.items() if size not in without]
        heapq.heapify(heads)
        unfit: set[Size] = set()
        started: dict[Size, int] = {}
        while heads:
            size = heads[0][1]
            line, place = self._lines[size], started.get(size, 0)
            if not start(line[place][1]):
                unfit.add(size)
                if not backfills:
                    break
                heapq.heappop(heads)
                continue
            started[size] = place + 1
            if place + 1 < len(line):
                heapq.heapreplace(heads, (line[place + 1][0], size))
            else:
                heapq.heappop(heads)
        for size, count in started.items():
            del self._lines[size][:count]
            self._count -= count
            if not self._lines[size]:
                del self._lines[size]
        return unfit

    def longest_wait(self, now: float) -> float:
        """Return how long the job that has waited longest has waited this time, in seconds; 0 if none waits."""
        while self._since and not _waits(*self._since[0]):
            heapq.heappop(self._since)
        return now - self._since[0][0] if self._since else 0.0


def _waits(since: float, _: int, run: Run) -> bool:
    return run.status is Status.WAITING and run.waiting_since == since
