"""Quasi-shortest service first (Hu et al., Characterization and prediction of deep learning workloads, SC 2021, section 4.2)."""

from ..job import Run
from ..placement import consolidated
from ..simulation import Simulation
from .ordered import Place


class Qssf:
    """Starts the job of least predicted GPU time first; no backfilling, no preemption.

    As in Lucid's simulator, predictions are asked for when a job was there before: jobs that come to an empty queue are taken by their
    number of GPUs in that second, and by predicted GPU time from the next on. Jobs without a prediction come last.
    """

    polls = False

    def __init__(self, place: Place = consolidated) -> None:
        self._place = place
        self._queue: list[Run] = []
        self._new = 0

    def submit(self, run: Run, now: float) -> None:
        """Queue a job."""
        self._queue.append(run)
        self._new += 1

    def ended(self, run: Run, now: float) -> None:
        """Nothing to note."""

    def schedule(self, simulation: Simulation) -> float | None:
        """Start jobs until one does not fit."""
        if not self._queue:
            return None
        unpredicted = len(self._queue) == self._new
        self._queue.sort(key=(lambda run: (0.0, run.job.total_gpus)) if unpredicted else _service)
        self._new = 0
        started = 0
        for run in self._queue:
            placement = self._place(simulation.cluster, run.job)
            if placement is None:
                break
            simulation.start(run, placement)
            started += 1
        del self._queue[:started]
        return simulation.now + 1 if unpredicted and self._queue else None


def _service(run: Run) -> tuple[float, float]:
    job = run.job
    return (float("inf") if job.estimate_s is None else job.estimate_s * job.total_gpus, job.total_gpus)
