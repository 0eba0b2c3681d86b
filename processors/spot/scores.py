"""Which node suits a pod best (GFS, Eq. 13 to 16).

The paper normalises each score and does not say how. Scores 1 and 2 are shares already. Score 3 must be 0 for a node whose spot jobs are
evicted all the time and for no other, as that breaks its circuit; a normalisation over candidates would always find one. So each is
taken as it is, cut to 0 to 1.
"""

from processors.spot.cluster import Node
from processors.spot.settings import GfsSettings

LONG_H = 24.0


def packing(node: Node) -> float:
    """Return score 1: the share of its GPUs that is taken (Eq. 13)."""
    return 1 - node.idle / node.gpus


def co_location(node: Node, *, spot: bool) -> float:
    """Return score 2: the share of its GPUs that jobs of the same class have (Eq. 14)."""
    return (node.spot_gpus if spot else node.hp_gpus) / node.gpus


def eviction_frequency(node: Node, settings: GfsSettings) -> float:
    """Return the weighted evictions an hour (Eq. 15)."""
    weight = settings.recent_weight
    return weight * node.evictions_1h + (1 - weight) * node.evictions_24h / LONG_H


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
