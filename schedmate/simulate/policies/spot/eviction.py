"""Chooses the spot jobs to evict for a high-priority job: a plan over all its pods before the first eviction."""

from collections import defaultdict
from collections.abc import Callable, Sequence

import msgspec

from ...cluster import Cluster
from ...job import Job, Run
from .state import NodeState, SpotState


class PodEvictionPlan(msgspec.Struct, frozen=True):
    """Jobs to evict, and nodes of the pods afterwards.

    Attributes:
        victims: Spot jobs.
        nodes: The node of each pod.
    """

    victims: list[Run]
    nodes: list[int]


Keep = Callable[[Run], float]
"""Value of keeping a spot job. Jobs with the lowest value on a node are evicted first."""
Cost = Callable[[NodeState, Sequence[Run]], tuple[float, ...]]
"""Cost of evicting these jobs from a node. The node with the least cost is chosen."""


def plan_evictions(
    cluster: Cluster, state: SpotState, job: Job, keep: Keep, cost: Cost, *, whole_nodes: bool = False
) -> PodEvictionPlan | None:
    """Find a node for each pod, one after the other; the GPUs that a victim leaves on other nodes serve later pods.

    Args:
        cluster: The nodes.
        state: Who is on them.
        job: A high-priority job.
        keep: Which spot jobs of a node stay first.
        cost: Which node is taken.
        whole_nodes: All spot jobs of a node go.

    Returns:
        The plan, or None where no evictions help.
    """
    need = max(1, int(job.gpus))
    if cluster.free + state.spot_gpus < need * job.pods:
        return None
    spare: dict[int, int] = defaultdict(int)
    victims: dict[int, Run] = {}
    chosen: list[int] = []
    for _ in range(job.pods):
        best: tuple[tuple[float, ...], NodeState, list[Run]] | None = None
        for node in state.nodes:
            if not cluster.nodes[node.index].up or job.gpu_type not in {"", node.gpu_type}:
                continue
            missing = need - cluster.nodes[node.index].free - spare[node.index]
            going = _going(node, missing, victims, keep, whole_nodes=whole_nodes)
            if going is not None and (best is None or _price(cost, node, going) < best[0]):
                best = _price(cost, node, going), node, going
                if not going:
                    break
        if best is None:
            return None
        _, node, going = best
        victims |= {run.order: run for run in going}
        for piece in (piece for run in going for piece in run.placement if piece.share == 1):
            spare[piece.node] += len(piece.gpus)
        spare[node.index] -= need
        chosen.append(node.index)
    return PodEvictionPlan(list(victims.values()), chosen)


def _price(cost: Cost, node: NodeState, going: list[Run]) -> tuple[float, ...]:
    """Return the cost of a node. One without evictions costs least."""
    return cost(node, going) if going else ()


def _going(
    node: NodeState, missing: int, already: dict[int, Run], keep: Keep, *, whole_nodes: bool
) -> list[Run] | None:
    """Return who of a node must go so that `missing` GPUs more are free; None where that is not enough."""
    if missing <= 0:
        return []
    if missing > node.spot_gpus:
        return None
    runs = [run for run in node.spot.values() if run.order not in already]
    given = {run.order: _gpus_on(run, node.index) for run in runs}
    surplus = sum(given.values()) - missing
    if surplus < 0:
        return None
    if whole_nodes:
        return runs
    going = []
    for run in sorted(runs, key=keep, reverse=True):
        if given[run.order] <= surplus:
            surplus -= given[run.order]
        else:
            going.append(run)
    return going


def _gpus_on(run: Run, index: int) -> int:
    return sum(len(piece.gpus) for piece in run.placement if piece.node == index and piece.share == 1)
