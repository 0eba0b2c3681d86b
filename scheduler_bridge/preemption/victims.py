"""Whom to evict so that one job that waits can start: those that lose least, no more than needed."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from scheduler_bridge.actuators import Capacity, Need, Queue, RunningJob, Share
from scheduler_bridge.actuators.queue import WHOLE

LIMIT = 4096
"""Sets of jobs that are weighed on one node at most; the best one so far holds then. Eight jobs make 256 sets."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a job can start, and who must leave for it.

    Attributes:
        nodes: Names of the nodes.
        victims: Ids of the jobs to evict; none where it fits as it is.
        loss: The sum of what they lose.
    """

    nodes: tuple[str, ...]
    victims: frozenset[str]
    loss: float


VictimChoice = Callable[[Need, Queue, Collection[str], Mapping[str, float]], Placement | None]
"""A choice of victims: what a job needs, the queue, the nodes that it may use, and what each job that may be evicted would lose.

Returns None where evicting all of them would not make room.
"""


def least_loss(need: Need, queue: Queue, allowed: Collection[str], losses: Mapping[str, float]) -> Placement | None:
    """Choose node by node, first the one where the cheapest set of jobs makes room; who is gone already costs nothing elsewhere.

    On one node the choice is the best one. Over several nodes, among jobs that span some of them, it is greedy; at the end, whoever
    need not go stays.

    Args:
        need: What must fit.
        queue: Jobs and nodes.
        allowed: Names of the nodes that may be used; those that are required among them.
        losses: What each job that may be evicted would lose, by id.
    """
    on_node: dict[str, list[RunningJob]] = {}
    for job in queue.running:
        for name in job.held:
            on_node.setdefault(name, []).append(job)
    nodes = {each.view.node: each for each in queue.nodes if each.view.node in allowed}
    if not set(need.required) <= nodes.keys() or len(nodes) < need.nodes:
        return None
    gone: set[str] = set()
    options = {name: _cheapest(node, on_node.get(name, ()), need, losses, gone) for name, node in nodes.items()}
    taken: list[str] = []
    while len(taken) < need.nodes:
        left = [name for name in need.required if name not in taken] or [name for name in nodes if name not in taken]
        possible = [(loss, name, victims) for name in left if (option := options[name]) for loss, victims in [option]]
        if not possible:
            return None
        _, name, victims = min(possible, key=lambda each: each[:2])
        taken.append(name)
        touched = {place for job in queue.running if job.view.job in victims - gone for place in job.held}
        gone |= victims
        for place in touched & nodes.keys():
            options[place] = _cheapest(nodes[place], on_node.get(place, ()), need, losses, gone)
    for victim in sorted(gone, key=lambda job: (-losses[job], job)):
        fewer = gone - {victim}
        if all(_fits(nodes[name], _staying(on_node.get(name, ()), name, fewer), need) for name in taken):
            gone = fewer
    return Placement(tuple(taken), frozenset(gone), sum(losses[job] for job in gone))


def _cheapest(
    node: Capacity, jobs: Iterable[RunningJob], need: Need, losses: Mapping[str, float], gone: Collection[str]
) -> tuple[float, frozenset[str]] | None:
    """Return the cheapest set of further jobs whose end makes room on a node; None where no set does."""
    name = node.view.node
    stay = [job for job in jobs if job.view.job not in gone]
    candidates = sorted(
        (job for job in stay if job.view.job in losses), key=lambda job: (losses[job.view.job], job.view.job)
    )
    names = [job.view.job for job in candidates]
    if not _fits(node, _staying(stay, name, names), need):
        return None
    best = _enough(node, stay, names, need)
    best_loss = sum(losses[job] for job in best)
    looks = 0
    # Depth first over sets in the order of their losses; what costs as much as the best one is not followed.
    stack: list[tuple[int, float, tuple[str, ...]]] = [(0, 0.0, ())]
    while stack and looks < LIMIT:
        index, loss, chosen = stack.pop()
        looks += 1
        if loss >= best_loss:
            continue
        if _fits(node, _staying(stay, name, chosen), need):
            best, best_loss = frozenset(chosen), loss
            continue
        following = [(at + 1, loss + losses[names[at]], (*chosen, names[at])) for at in range(index, len(names))]
        stack += [each for each in reversed(following) if each[1] < best_loss]
    return best_loss, best


def _enough(node: Capacity, stay: list[RunningJob], names: list[str], need: Need) -> frozenset[str]:
    """Return a set that makes room, good enough to begin with: the cheapest first, then without those that need not go."""
    chosen: list[str] = []
    for job in names:
        if _fits(node, _staying(stay, node.view.node, chosen), need):
            break
        chosen.append(job)
    for job in reversed(tuple(chosen)):
        fewer = [each for each in chosen if each != job]
        if _fits(node, _staying(stay, node.view.node, fewer), need):
            chosen = fewer
    return frozenset(chosen)


def _staying(jobs: Iterable[RunningJob], node: str, gone: Collection[str]) -> list[Share]:
    """Return what is held on a node once some jobs are gone."""
    return [job.held[node] for job in jobs if job.view.job not in gone]


def _fits(node: Capacity, held: Iterable[Share], need: Need) -> bool:
    """True where one node's part of the need fits beside what is held."""
    held = list(held)
    if held and need.exclusive:
        return False
    cpus, memory, used = node.cpus, node.memory, dict.fromkeys(range(node.gpus), 0.0)
    for share in held:
        cpus -= share.cpus
        memory -= share.memory
        for index, part in share.gpus.items():
            used[index] = used.get(index, 0.0) + part
    if cpus < need.cpus or memory < need.memory:
        return False
    whole, part = int(need.gpus + 1 - WHOLE), need.gpus - int(need.gpus + 1 - WHOLE)
    free = sorted((1 - taken for taken in used.values()), reverse=True)
    if sum(room >= WHOLE for room in free) < whole:
        return False
    rest = free[whole:]
    return part <= 1 - WHOLE or any(room >= part - (1 - WHOLE) for room in rest)
