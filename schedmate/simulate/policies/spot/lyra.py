"""Lyra: idle nodes are lent to training whole, and taken back where that costs least (Li et al., EuroSys 2023, section 4)."""

from collections.abc import Sequence

from ...cluster import Cluster
from ...job import Job, JobClass, Run
from .base import SpotPolicy
from .eviction import PodEvictionPlan, plan_evictions
from .state import NodeState


class Lyra(SpotPolicy):
    """Spot jobs run on nodes that have no high-priority job (nodes on loan), high-priority jobs on all others.

    A high-priority job that does not fit takes nodes back: all spot jobs of such a node go. It takes the node whose spot jobs cost
    least, a job counting as one over the number of its
    nodes: the rest of it stops as well, so that its other nodes are then cheaper.
    """

    def choose(self, cluster: Cluster, job: Job) -> int | None:
        """Return the fullest node that suffices, of those on loan or of the others."""
        spot = job.job_class is JobClass.SPOT
        for free in range(int(job.gpus), cluster.largest + 1):
            for index in cluster.by_free[free]:
                node = self.state.nodes[index]
                mine, others = (node.spot_gpus, node.hp_gpus) if spot else (node.hp_gpus, node.spot_gpus)
                if job.gpu_type in {"", node.gpu_type} and not others and (mine or free == node.gpus):
                    return index
        return None

    def plan(self, cluster: Cluster, job: Job) -> PodEvictionPlan | None:
        """Return which nodes are taken back."""
        return plan_evictions(cluster, self.state, job, lambda _: 0.0, _loan_cost, whole_nodes=True)


def _loan_cost(node: NodeState, going: Sequence[Run]) -> tuple[float, ...]:
    return (sum(1 / len({piece.node for piece in run.placement}) for run in going), node.index)
