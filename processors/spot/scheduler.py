"""The order of waiting jobs in the preemptive task scheduler (GFS, section 3.4.2).

What Algorithm 3 does besides stands with whoever holds the cluster: the quota binds spot jobs alone, a place without evictions is looked
for first (`placement`), and for a high-priority job others go (`preemption`). See `simulate/policies/spot/`.
"""

from processors.spot.cluster import Request


def order(request: Request, submit_s: float) -> tuple[float, float, float]:
    """Return what waiting jobs are sorted by: GPUs, pods, submission (section 3.4.2), large ones first.

    The paper does not name a direction. Large pods are those that fragmentation keeps out, so they come first.
    """
    return -request.gpus, -request.pods, submit_s
