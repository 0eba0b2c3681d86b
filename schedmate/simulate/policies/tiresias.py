"""Tiresias: two queues by attained service (Gu et al., NSDI 2019, discretised two-dimensional LAS)."""

import math

from ..job import Run, Status
from ..placement import consolidated
from ..simulation import Simulation
from .ordered import Place


class Tiresias:
    """Prefers jobs that have had little GPU time; within a queue first come, first served. Knows no durations.

    The rules of Lucid's simulator: once a minute, over waiting and running jobs, those of up to `threshold` GPU seconds first, each
    queue by submission, those are chosen that fit into what is left of the partition's GPUs; running jobs that were not chosen are
    preempted,
    waiting ones placed where that succeeds.

    Args:
        threshold: GPU seconds after which a job falls into the lower queue.
        interval_s: Seconds between two decisions.
        place: Where a job goes.
    """

    polls = True

    def __init__(self, threshold: float = 18000.0, interval_s: float = 60.0, place: Place = consolidated) -> None:
        self.threshold = threshold
        self.interval_s = interval_s
        self._place = place
        self._queue: dict[int, Run] = {}
        self._attained: dict[int, float] = {}
        self._dirty = False
        self._crossing = math.inf
        self._capacity = math.nan

    def submit(self, run: Run, now: float) -> None:
        """Queue a job."""
        self._queue[run.order] = run
        self._attained.setdefault(run.order, 0.0)
        self._dirty = True

    def ended(self, run: Run, now: float) -> None:
        """Forget what it attained."""
        del self._attained[run.order]
        self._dirty = True

    def schedule(self, simulation: Simulation) -> float | None:
        """Preempt and start, once an interval."""
        if not self._queue:
            return None
        now = simulation.now
        if simulation.cluster.capacity != self._capacity:  # a node failed, or came back
            self._capacity, self._dirty = simulation.cluster.capacity, True
        if now % self.interval_s:
            return self._grid(now)
        if not self._dirty and now < self._crossing:
            return None if self._crossing == math.inf else self._crossing
        self._dirty = self._decide(simulation)
        self._crossing = min(
            (self._falls_at(run) for run in simulation.running.values() if self._service(run, now) <= self.threshold),
            default=math.inf,
        )
        if self._dirty:
            return self._grid(now)
        return None if self._crossing == math.inf else self._crossing

    def _decide(self, simulation: Simulation) -> bool:
        now = simulation.now
        jobs = [*simulation.running.values(), *self._queue.values()]
        jobs.sort(key=lambda run: (self._service(run, now) > self.threshold, run.job.submit_s))
        left: float = simulation.cluster.capacity
        chosen, preempted = [], []
        for run in jobs:
            if run.job.total_gpus <= left:
                left -= run.job.total_gpus
                if run.status is Status.WAITING:
                    chosen.append(run)
            elif run.status is Status.RUNNING:
                preempted.append(run)
        for run in preempted:
            self._attained[run.order] = self._service(run, now)
            simulation.preempt(run)
            self._queue[run.order] = run
        started = False
        for run in chosen:
            placement = self._place(simulation.cluster, run.job)
            if placement is not None:
                simulation.start(run, placement)
                del self._queue[run.order]
                started = True
        return bool(preempted) or started

    def _service(self, run: Run, now: float) -> float:
        before = self._attained[run.order]
        return before + (now - run.started) * run.job.total_gpus if run.status is Status.RUNNING else before

    def _falls_at(self, run: Run) -> float:
        """Return the first decision at which a running job is in the lower queue."""
        after = (self.threshold - self._attained[run.order]) / run.job.total_gpus
        return self._grid(run.started + after)

    def _grid(self, after: float) -> float:
        return (math.floor(after / self.interval_s) + 1) * self.interval_s
