"""Where pods go without evictions (GFS, Algorithm 1)."""

from collections.abc import Iterable, Sequence

import msgspec

from processors.spot.cluster import Node, NodeState, Request, needed, suits
from processors.spot.scores import breaker_open, scores
from processors.spot.settings import GfsSettings


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
