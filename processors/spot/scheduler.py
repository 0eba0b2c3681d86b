"""One decision of the preemptive task scheduler (GFS, Algorithm 3)."""

from collections.abc import Sequence

from processors.spot.cluster import NodeState, Request
from processors.spot.placement import place
from processors.spot.preemption import Preemption, SpotHistory, preempt
from processors.spot.settings import GfsSettings


def schedule(
    nodes: Sequence[NodeState], request: Request, quota: float, history: SpotHistory, settings: GfsSettings
) -> Preemption | None:
    """Return where a job goes and who goes for it; None where it has to wait.

    The quota binds spot jobs alone: high-priority jobs have quotas of their own, which the scheduler keeps.

    Args:
        nodes: Nodes that are up.
        request: The job.
        quota: GPUs that spot jobs may have in all.
        history: What became of spot jobs.
        settings: Parameters.
    """
    if request.spot and sum(node.spot_gpus for node in nodes) + request.pods * request.gpus > quota:
        return None
    found = place(nodes, request, settings)
    if found is not None:
        return Preemption((), tuple(found))
    return None if request.spot else preempt(nodes, request, history, settings)


def order(request: Request, submit_s: float) -> tuple[float, float, float]:
    """Return what waiting jobs are sorted by: GPUs, pods, submission (section 3.4.2), large ones first.

    The paper does not name a direction. Large pods are those that fragmentation keeps out, so they come first.
    """
    return -request.gpus, -request.pods, submit_s
