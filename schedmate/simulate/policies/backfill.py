"""A fixed order with EASY backfilling (Lifka, JSSPP 1995): nodes are reserved for the first job that does not fit.

Jobs behind it start where they are not expected to delay it.
"""

from bisect import insort
from collections.abc import Callable, Collection

from ..cluster import Cluster
from ..job import Job, Run, Slice
from ..placement import best_fit, consolidated
from ..simulation import Simulation
from .ordered import Place
from .promise import ExpectedEnds, first_fit

DEPTH = 100
"""Jobs behind the first that are tried, as in schedulers whose queues are long."""
UNKNOWN_S = 86_400.0
"""Assumed duration of a job without an estimate, in seconds."""


class Backfilled:
    """Starts jobs in order; behind one that does not fit, those that are not expected to delay it.

    Expected ends rest on estimates, which may be wrong: a job that runs for longer than estimated is expected to run on for as long as it
    has run, and the reservation moves. No job is stopped for it.

    Args:
        key: What the queue is sorted by; equals keep the order of the trace.
        by_pods: Each pod goes to the node that fits best, instead of the whole job to as few nodes as possible.
        running: Estimated duration of a running job, in seconds; by default that of its submission.
    """

    polls = False

    def __init__(
        self,
        key: Callable[[Run], float],
        *,
        by_pods: bool = False,
        running: Callable[[Run], float] | None = None,
    ) -> None:
        self._key = key
        self._by_pods = by_pods
        self._place: Place = best_fit if by_pods else consolidated
        self._queue: list[tuple[float, int, Run]] = []
        self._ends = ExpectedEnds(running or _estimate)

    def submit(self, run: Run, now: float) -> None:
        """Queue a job."""
        insort(self._queue, (self._key(run), run.order, run))

    def ended(self, run: Run, now: float) -> None:
        """Do nothing."""

    def schedule(self, simulation: Simulation) -> float | None:
        """Start jobs until one does not fit, then those behind it that may start earlier."""
        queue, started = self._queue, 0
        for _, _, run in queue:
            placement = self._place(simulation.cluster, run.job)
            if placement is None:
                break
            self._start(simulation, run, placement)
            started += 1
        del queue[:started]
        if len(queue) > 1 and simulation.cluster.free:
            self._backfill(simulation)
        return None

    def _backfill(self, simulation: Simulation) -> None:
        cluster, now = simulation.cluster, simulation.now
        reservation: tuple[float, Collection[int]] | None = None
        unfit: set[tuple[float, int, str, bool]] = set()
        started = set()
        for _, order, run in self._queue[1 : DEPTH + 1]:
            size = run.job.gpus, run.job.pods, run.job.gpu_type
            if (*size, False) in unfit:  # it fits nowhere
                continue
            if reservation is None:
                # Most queues have no job that fits anywhere, so that no reservation is needed.
                placement = self._place(cluster, run.job)
                if placement is None:
                    unfit.add((*size, False))
                    continue
                cluster.release(placement)
                ends = self._ends.in_order(now, len(simulation.running))
                wait, nodes = first_fit(cluster, self._queue[0][2].job, ends, by_pods=self._by_pods)
                reservation = now + wait, nodes
            outlasts = now + _estimate(run) > reservation[0]
            if (*size, outlasts) in unfit:
                continue
            placement = self._place_around(cluster, run.job, reservation[1] if outlasts else ())
            if placement is None:
                unfit.add((*size, outlasts))
            else:
                self._start(simulation, run, placement)
                started.add(order)
        if started:
            first = self._queue[: DEPTH + 1]
            self._queue[: DEPTH + 1] = [entry for entry in first if entry[1] not in started]

    def _place_around(self, cluster: Cluster, job: Job, reserved: Collection[int]) -> tuple[Slice, ...] | None:
        """Place a job, but not on reserved nodes."""
        usable = [index for index in reserved if cluster.nodes[index].up]
        for index in usable:
            cluster.take_down(index)
        placement = self._place(cluster, job)
        for index in usable:
            cluster.bring_up(index)
        return placement

    def _start(self, simulation: Simulation, run: Run, placement: tuple[Slice, ...]) -> None:
        simulation.start(run, placement)
        self._ends.add(run)


def _estimate(run: Run) -> float:
    return UNKNOWN_S if run.job.estimate_s is None else run.job.estimate_s
