"""Shortest remaining time first, preemptive, by true durations: an oracle."""

from itertools import pairwise

from ..job import Run, Status
from ..placement import consolidated
from ..simulation import Simulation
from .ordered import Place


class Srtf:
    """Runs the jobs of least remaining time whose GPUs fit into the partition, and preempts the others.

    The rules of Lucid's simulator, which decides once a second: in the order of remaining time, over waiting and running jobs, those
    are chosen that fit into what is left of the partition's GPUs. Running jobs that were not chosen are preempted; waiting ones that
    were are placed, where that succeeds.
    Here it decides only when the answer can have changed: when something happened, in the second after it acted, and when a running job
    overtakes a waiting one.
    """

    polls = True

    def __init__(self, place: Place = consolidated) -> None:
        self._place = place
        self._queue: dict[int, Run] = {}

    def submit(self, run: Run, now: float) -> None:
        """Queue a job."""
        self._queue[run.order] = run

    def ended(self, run: Run, now: float) -> None:
        """Nothing to note."""

    def schedule(self, simulation: Simulation) -> float | None:
        """Preempt and start."""
        if not self._queue:
            return None
        now = simulation.now
        jobs = [(run.remaining(now), run) for run in (*self._queue.values(), *simulation.running.values())]
        jobs.sort(key=lambda pair: pair[0])
        left: float = simulation.cluster.capacity
        chosen, preempted = [], []
        for _, run in jobs:
            if run.job.total_gpus <= left:
                left -= run.job.total_gpus
                if run.status is Status.WAITING:
                    chosen.append(run)
            elif run.status is Status.RUNNING:
                preempted.append(run)
        for run in preempted:
            simulation.preempt(run)
            self._queue[run.order] = run
        started = False
        for run in chosen:
            placement = self._place(simulation.cluster, run.job)
            if placement is not None:
                simulation.start(run, placement)
                del self._queue[run.order]
                started = True
        if preempted or started:
            return now + 1 if self._queue else None
        return _overtaken(jobs, now)


def _overtaken(jobs: list[tuple[float, Run]], now: float) -> float | None:
    """Return when a running job first has less left than the waiting one before it: neighbours in order are the first to cross."""
    best: float | None = None
    for (less, waiting), (more, running) in pairwise(jobs):
        if waiting.status is Status.WAITING and running.status is Status.RUNNING:
            gap = more - less + 1
            if best is None or gap < best:
                best = gap
    return None if best is None else now + best
