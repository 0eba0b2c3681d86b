"""Placement of pods without evictions (GFS, Algorithm 1) on the best node for each (Eq. 13 to 16).

The paper normalises each score and does not state how. Scores 1 and 2 are shares already. Score 3 must be 0 for a node whose spot jobs are
evicted all the time and for no other, as that breaks its circuit; a normalisation over candidates would always find one. So each is
taken as it is, cut to 0 to 1.
"""

from collections.abc import Iterable, Sequence

import msgspec

from .cluster import Node, NodeState, Request, needed, suits
from .settings import GfsSettings


def packing(node: Node) -> float:
    """Return score 1: the share of its GPUs that is taken (Eq. 13)."""
    return 1 - node.idle / node.gpus


def co_location(node: Node, *, spot: bool) -> float:
    """Return score 2: the share of its GPUs that jobs of the same class have (Eq. 14)."""
    return (node.spot_gpus if spot else node.hp_gpus) / node.gpus


def eviction_frequency(node: Node, settings: GfsSettings) -> float:
    """Return the weighted evictions an hour (Eq. 15)."""
    weight = settings.recent_weight
    return weight * node.evictions_1h + (1 - weight) * node.evictions_24h / 24.0


def eviction_awareness(node: Node, settings: GfsSettings, *, spot: bool) -> float:
    """Return score 3: high where spot jobs are evicted, for high-priority jobs; the reverse for spot jobs (Eq. 16)."""
    # Where m to this power exceeds 100 the score is cut anyway; beyond some hundreds it would overflow.
    penalty: float = 0.01 * settings.penalty ** min(eviction_frequency(node, settings), 100.0)
    return max(1 - penalty, 0.0) if spot else min(penalty, 1.0)


def breaker_open(node: Node, settings: GfsSettings) -> bool:
    """Return whether a node takes no spot jobs for now, as they are evicted from it too often (score 3 is 0)."""
    return eviction_awareness(node, settings, spot=True) <= 0


def scores(node: Node, settings: GfsSettings, *, spot: bool) -> tuple[float, float, float]:
    """Return scores 1 to 3; the node whose are the highest, compared in this order, is taken (Algorithm 1, line 12)."""
    return packing(node), co_location(node, spot=spot), eviction_awareness(node, settings, spot=spot)


def choose_node(nodes: Iterable[Node], request: Request, settings: GfsSettings) -> Node | None:
    """Return the node for one pod, None where none suits; of equals the one of the lowest index.

    The printed filter asks for a positive score 3 for pods of whole GPUs alone; the text keeps spot jobs in general off such nodes, which
    is done here.
    """
    best: tuple[tuple[float, ...], Node] | None = None
    for node in nodes:
        if node.idle < needed(request) or not suits(node, request) or (request.spot and breaker_open(node, settings)):
            continue
        rank = (*scores(node, settings, spot=request.spot), -node.index)
        if best is None or rank > best[0]:
            best = rank, node
    return best[1] if best else None


def place(nodes: Sequence[NodeState], request: Request, settings: GfsSettings) -> list[int] | None:
    """Return the node of each pod; None where not all pods fit (a gang starts whole or not at all)."""
    left = {node.index: node for node in nodes}
    chosen: list[int] = []
    for _ in range(request.pods):
        node = choose_node(left.values(), request, settings)
        if node is None:
            return None
        chosen.append(node.index)
        left[node.index] = _with_pod(left[node.index], request)
    return chosen


def _with_pod(node: NodeState, request: Request) -> NodeState:
    gpus = needed(request)
    if request.spot:
        return msgspec.structs.replace(node, idle=node.idle - gpus, spot_gpus=node.spot_gpus + gpus)
    return msgspec.structs.replace(node, idle=node.idle - gpus, hp_gpus=node.hp_gpus + gpus)
