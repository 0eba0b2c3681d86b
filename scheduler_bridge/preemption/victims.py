"""Chooses the jobs to evict so that one job that waits can start, from the queue as the scheduler shows it."""

from collections.abc import Callable, Collection, Mapping

from processors.eviction import EvictionPlan
from processors.eviction import least_loss as least_loss_of

from ..schedulers import Need, Queue

VictimChoice = Callable[[Need, Queue, Collection[str], Mapping[str, float]], EvictionPlan | None]
"""A choice of victims: what a job needs, the queue, the nodes that it may use, and what each job that may be evicted would lose.

Returns None where evicting all of them would not make room.
"""


def least_loss(need: Need, queue: Queue, allowed: Collection[str], losses: Mapping[str, float]) -> EvictionPlan | None:
    """Choose those that lose least. See `eviction.least_loss`, which the simulator asks too.

    Args:
        need: What must fit.
        queue: Jobs and nodes.
        allowed: Names of the nodes that may be used; those that are required among them.
        losses: What each job that may be evicted would lose, by id.
    """
    nodes = {each.view.node: each for each in queue.nodes if each.view.node in allowed}
    return least_loss_of(need, nodes, {job.view.job: job.held for job in queue.running}, losses)
