"""Fragmentation gradient descent (Weng et al., ATC 2023), adapted from within a card to within a node as in GFS, section 4.1."""

from collections import Counter
from collections.abc import Sequence

from ...cluster import Cluster
from ...job import Job, Run
from .base import SpotPolicy
from .eviction import PodEvictionPlan, plan_evictions
from .state import NodeState


class Fgd(SpotPolicy):
    """A pod goes where it adds least to fragmentation: the GPUs that a pod drawn from what was submitted so far could not use, on average.

    For a high-priority job, spot jobs go from the node where that is least; the paper does not state which, so the youngest are evicted.
    """

    def __init__(self) -> None:
        super().__init__()
        self._sizes: Counter[int] = Counter()

    def submit(self, run: Run, now: float) -> None:
        """Queue a job, and count the sizes of its pods."""
        if not run.runs:
            self._sizes[max(1, int(run.job.gpus))] += run.job.pods
        super().submit(run, now)

    def fragmentation(self, free: int) -> float:
        """Return the GPUs of a node with so many free that a pod could not use, averaged over the sizes of pods."""
        total = sum(self._sizes.values())
        return sum(count for size, count in self._sizes.items() if free < size) / total * free if total else 0.0

    def choose(self, cluster: Cluster, job: Job) -> int | None:
        """Return the node where fragmentation grows least."""
        need = int(job.gpus)
        found: tuple[float, int, int] | None = None
        for free in range(need, cluster.largest + 1):
            index = next(
                (index for index in cluster.by_free[free] if job.gpu_type in {"", self.state.nodes[index].gpu_type}),
                None,
            )
            if index is not None:
                grows = self.fragmentation(free - need) - self.fragmentation(free)
                if found is None or (grows, free) < found[:2]:
                    found = grows, free, index
        return None if found is None else found[2]

    def plan(self, cluster: Cluster, job: Job) -> PodEvictionPlan | None:
        """Return who goes: from the node where fragmentation grows least."""
        need = max(1, int(job.gpus))

        def grows(node: NodeState, going: Sequence[Run]) -> tuple[float, ...]:
            free = cluster.nodes[node.index].free
            freed = sum(len(piece.gpus) for run in going for piece in run.placement if piece.node == node.index)
            after = max(0, free + freed - need)
            return (self.fragmentation(after) - self.fragmentation(free), node.index)

        return plan_evictions(cluster, self.state, job, lambda run: -run.started, grows)
