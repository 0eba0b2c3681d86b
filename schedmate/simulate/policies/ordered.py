"""Policies that start jobs in a fixed order and stop at the first that does not fit: no backfilling, no preemption."""

import heapq
from collections.abc import Callable

from ..cluster import Cluster
from ..job import Job, Run, Slice
from ..placement import consolidated
from ..simulation import Simulation

Place = Callable[[Cluster, Job], tuple[Slice, ...] | None]


class Ordered:
    """Starts the first of the queue as long as it fits.

    Args:
        key: What the queue is sorted by; equals keep the order of the trace.
        place: Where a job goes.
    """

    polls = False

    def __init__(self, key: Callable[[Run], float], place: Place = consolidated) -> None:
        self._key = key
        self._place = place
        self._queue: list[tuple[float, int, Run]] = []

    def submit(self, run: Run, now: float) -> None:
        """Queue a job."""
        heapq.heappush(self._queue, (self._key(run), run.order, run))

    def ended(self, run: Run, now: float) -> None:
        """Nothing to note."""

    def schedule(self, simulation: Simulation) -> float | None:
        """Start jobs until one does not fit."""
        queue = self._queue
        while queue:
            run = queue[0][2]
            placement = self._place(simulation.cluster, run.job)
            if placement is None:
                break
            heapq.heappop(queue)
            simulation.start(run, placement)
        return None


def fifo(place: Place = consolidated) -> Ordered:
    """First in, first out."""
    return Ordered(lambda run: run.job.submit_s, place)


def sjf(place: Place = consolidated) -> Ordered:
    """Shortest job first, by true durations: an oracle."""
    return Ordered(lambda run: run.job.duration_s, place)


def sjf_estimated(place: Place = consolidated) -> Ordered:
    """Shortest job first, by what was estimated at submission; jobs without an estimate come last."""
    return Ordered(by_estimate, place)


def by_estimate(run: Run) -> float:
    """Return the duration that was estimated; infinite where none was."""
    return float("inf") if run.job.estimate_s is None else run.job.estimate_s
