"""A fixed order with EASY backfilling (Lifka, JSSPP 1995): the first that does not fit is promised nodes, and others may go before it."""

from bisect import insort
from collections.abc import Callable, Collection

from ..cluster import Cluster
from ..job import Job, Run, Slice
from ..placement import consolidated
from ..simulation import Simulation
from .ordered import Place

DEPTH = 100
"""Jobs behind the first that are tried, as in schedulers whose queues are long."""
UNKNOWN_S = 86_400.0
"""What a job without an estimate is taken to last."""


class Backfilled:
    """Starts jobs in order; behind one that does not fit, those that are not expected to delay it.

    What is expected rests on estimates, which may be wrong: a job that runs for longer than estimated is taken to go on for as long as it
    has run, and the promise moves. No job is stopped for it.

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
        insort(self._queue, (self._key(run), run.order, run))

    def ended(self, run: Run, now: float) -> None:
        """Nothing to note."""

    def schedule(self, simulation: Simulation) -> float | None:
        """Start jobs until one does not fit, then those behind it that may go before it."""
        queue, started = self._queue, 0
        for _, _, run in queue:
            placement = self._place(simulation.cluster, run.job)
            if placement is None:
                break
            simulation.start(run, placement)
            started += 1
        del queue[:started]
        if len(queue) > 1 and simulation.cluster.free:
            self._backfill(simulation)
        return None

    def _backfill(self, simulation: Simulation) -> None:
        cluster, now = simulation.cluster, simulation.now
        at, promised = self._promise(simulation, self._queue[0][2].job)
        unfit: set[tuple[float, bool]] = set()
        left = [self._queue[0]]
        for entry in self._queue[1 : DEPTH + 1]:
            run = entry[2]
            outlasts = now + _estimate(run) > at
            size = run.job.total_gpus, outlasts
            placement = None
            if size not in unfit:
                placement = self._place_elsewhere(cluster, run.job, promised if outlasts else ())
            if placement is None:
                unfit.add(size)
                left.append(entry)
            else:
                simulation.start(run, placement)
        self._queue[: DEPTH + 1] = left

    def _place_elsewhere(self, cluster: Cluster, job: Job, promised: Collection[int]) -> tuple[Slice, ...] | None:
        """Place a job, but not on nodes that are promised."""
        usable = [index for index in promised if cluster.nodes[index].up]
        for index in usable:
            cluster.take_down(index)
        placement = self._place(cluster, job)
        for index in usable:
            cluster.bring_up(index)
        return placement

    def _promise(self, simulation: Simulation, job: Job) -> tuple[float, set[int]]:
        """Return when a job is expected to fit, and on which nodes: running jobs end as they are expected to, on a copy of the cluster."""
        now = simulation.now
        copy = Cluster(node.spec for node in simulation.cluster.nodes)
        held = [(run, tuple(_retake(copy, piece) for piece in run.placement)) for run in simulation.running.values()]
        for node in simulation.cluster.nodes:
            if not node.up:
                copy.take_down(node.index)
        held.sort(key=lambda each: (_remaining_s(each[0], now), each[0].order))
        for run, pieces in held:
            copy.release(pieces)
            placement = self._place(copy, job)
            if placement is not None:
                return now + _remaining_s(run, now), {piece.node for piece in placement}
        return float("inf"), set()


def _retake(copy: Cluster, piece: Slice) -> Slice:
    if piece.share < 1:
        return copy.take_share(piece.node, piece.share)
    return copy.take(piece.node, len(piece.gpus))


def _estimate(run: Run) -> float:
    return UNKNOWN_S if run.job.estimate_s is None else run.job.estimate_s


def _remaining_s(run: Run, now: float) -> float:
    elapsed = now - run.started
    left = _estimate(run) - elapsed
    return left if left > 0 else elapsed
