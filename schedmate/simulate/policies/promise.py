"""Reservation of a job that does not fit: expected start and nodes."""

import heapq
import math
from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from ..cluster import Cluster
from ..job import Job, Run, Status

_Entry = tuple[float, int, Run, float]
"""Sort key, the job's order, the job, and its start."""


class ExpectedEnds:
    """Running jobs in the order in which they are expected to end.

    A job that runs for longer than estimated is expected to run on for as long as it has run.

    Args:
        estimate: Returns the estimated duration of a job, in seconds.
    """

    def __init__(self, estimate: Callable[[Run], float]) -> None:
        self._estimate = estimate
        self._ahead: list[_Entry] = []
        """Jobs that have not run for as long as estimated, by the end of the estimate."""
        self._late: list[_Entry] = []
        """The other jobs, those that started last first."""

    def add(self, run: Run) -> None:
        """Add a job that has just started."""
        insort(self._ahead, (run.started + self._estimate(run), run.order, run, run.started), key=_place)

    def in_order(self, now: float, running: int) -> Iterator[tuple[float, int, Run]]:
        """Yield for each running job the seconds that it is expected to run on, its order, and the job.

        Args:
            now: The time.
            running: Number of running jobs. Entries of jobs that no longer run are removed when they are the larger part.
        """
        if len(self._ahead) + len(self._late) > 2 * running + 100:
            self._ahead = [entry for entry in self._ahead if _runs(entry)]
            self._late = [entry for entry in self._late if _runs(entry)]
        passed = 0
        for entry in self._ahead:
            if entry[0] > now:
                break
            passed += 1
            if _runs(entry):
                insort(self._late, (-entry[3], *entry[1:]), key=_place)
        del self._ahead[:passed]
        ahead = ((entry[0] - now, entry[1], entry[2]) for entry in self._ahead if _runs(entry))
        late = ((now + entry[0], entry[1], entry[2]) for entry in self._late if _runs(entry))
        return heapq.merge(ahead, late)


def _place(entry: _Entry) -> tuple[float, int]:
    return entry[:2]


def _runs(entry: _Entry) -> bool:
    return entry[2].status is Status.RUNNING and entry[2].started == entry[3]


def first_fit(
    cluster: Cluster, job: Job, ends: Iterable[tuple[float, int, Run]], *, by_pods: bool = False
) -> tuple[float, set[int]]:
    """Return in how many seconds a job will fit if running jobs end as expected, and on which nodes.

    The rules are those of `placement.consolidated`, or by pods those of `placement.best_fit`. The time is infinite if the job does not fit
    even when all have ended.

    Args:
        cluster: The nodes, on which the job does not fit now.
        job: The job.
        ends: Running jobs as `ExpectedEnds.in_order` yields them.
        by_pods: Each pod goes to one node.
    """
    future = _Future(cluster, job, by_pods and job.pods > 1)
    for left, _, run in ends:
        nodes = future.after(run)
        if nodes:
            return left, nodes
    return float("inf"), set()


class _Future:
    """Free GPUs of the nodes that a job may use, as running jobs end.

    Args:
        cluster: The nodes.
        job: The job that is to fit.
        gang: It has several pods, each of which goes to one node.
    """

    def __init__(self, cluster: Cluster, job: Job, gang: bool) -> None:
        self._free = {
            node.index: node.free for node in cluster.nodes if node.up and job.gpu_type in {"", node.spec.gpu_type}
        }
        self._nodes = cluster.nodes
        self._shares: dict[tuple[int, int], list[float]] = {}
        """By node and GPU, the number of jobs with a share and the part that they use."""
        self._largest = cluster.largest
        gpus = job.gpus if gang else job.total_gpus
        self._need = gpus if gpus < 1 and not gang else max(1, math.ceil(gpus - 1e-9))
        self._pods = job.pods if gang else 0
        self._idle = sorted(node for node, free in self._free.items() if free == self._largest)

    def after(self, run: Run) -> set[int]:
        """Return the nodes on which the job fits when `run` ends, too; none if it does not fit."""
        touched = set()
        for piece in run.placement:
            if piece.node not in self._free:
                continue
            freed = len(piece.gpus) if piece.share == 1 else self._end_share(piece.node, piece.gpus[0], piece.share)
            self._free[piece.node] += freed
            touched.add(piece.node)
            if freed and self._free[piece.node] == self._largest:
                insort(self._idle, piece.node)
        if self._pods:
            return self._of_gang()
        if self._need > self._largest:
            return self._on_many()
        return self._on_one(touched)

    def _end_share(self, node: int, gpu: int, share: float) -> int:
        """Return 1 if a share was the last one of its GPU."""
        state = self._nodes[node]
        left = self._shares.setdefault((node, gpu), [state.tenants[gpu], state.used[gpu]])
        left[0] -= 1
        left[1] -= share
        return int(left[0] == 0)

    def _on_one(self, touched: set[int]) -> set[int]:
        """Only nodes where GPUs got free can have become sufficient."""
        if self._need < 1:
            shared = [
                node
                for (node, _), (tenants, used) in self._shares.items()
                if node in touched and tenants and used <= 1 - self._need + 1e-9
            ]
            if shared:
                return {min(shared)}
        able = [(self._free[node], node) for node in touched if self._free[node] >= self._need]
        return {min(able)[1]} if able else set()

    def _of_gang(self) -> set[int]:
        """The fullest nodes that have room for a pod take as many as fit."""
        need, left, nodes = int(self._need), self._pods, set()
        for free, node in sorted((free, node) for node, free in self._free.items() if free >= need):
            nodes.add(node)
            left -= free // need
            if left <= 0:
                return nodes
        return set()

    def _on_many(self) -> set[int]:
        whole, rest = divmod(int(self._need), self._largest)
        if len(self._idle) < whole:
            return set()
        if not rest or len(self._idle) > whole:
            return set(islice(self._idle, whole + bool(rest)))
        free, node = max(((free, -node) for node, free in self._free.items() if free < self._largest), default=(0, 0))
        return {*self._idle, -node} if free >= rest else set()
