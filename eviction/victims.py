"""Whom to evict so that one job that waits can start: those that lose least, no more than needed."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .resources import Capacity, Need, Share, fits

LIMIT = 4096
"""Sets of jobs that are weighed on one node at most; the best one so far holds then. Eight jobs make 256 sets."""

Held = Mapping[str, Mapping[str, Share]]
"""What each job holds, by node."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a job can start, and who must leave for it.

    Attributes:
        nodes: Names of the nodes; with `Need.stacked`, of each part.
        victims: Ids of the jobs to evict; none where it fits as it is.
        loss: The sum of what they lose.
    """

    nodes: tuple[str, ...]
    victims: frozenset[str]
    loss: float


def least_loss(need: Need, nodes: Mapping[str, Capacity], held: Held, losses: Mapping[str, float]) -> Placement | None:
    """Choose node by node, first the one where the cheapest set of jobs makes room; who is gone already costs nothing elsewhere.

    On one node the choice is the best one. Over several nodes, among jobs that span some of them, it is greedy; at the end, whoever
    need not go stays.

    Args:
        need: What must fit.
        nodes: Those that may be used, by name; those that are required among them.
        held: What each job holds, by id and node; of nodes that may not be used, too.
        losses: What each job that may be evicted would lose, by id.

    Returns:
        None where evicting all of them would not make room.
    """
    if not set(need.required) <= nodes.keys() or (len(nodes) < need.nodes and not need.stacked):
        return None
    on_node: dict[str, dict[str, Share]] = {name: {} for name in nodes}
    for job, places in held.items():
        for name in places.keys() & nodes.keys():
            on_node[name][job] = places[name]
    gone: set[str] = set()
    taken: list[str] = []
    options = {name: _cheapest(node, on_node[name], need, 1, losses, gone) for name, node in nodes.items()}
    while len(taken) < need.nodes:
        usable = nodes if need.stacked else [name for name in nodes if name not in taken]
        left = [name for name in need.required if name not in taken] or usable
        possible = [(loss, name, victims) for name in left if (option := options[name]) for loss, victims in [option]]
        if not possible:
            return None
        _, name, victims = min(possible, key=lambda each: each[:2])
        taken.append(name)
        changed = {place for job in victims - gone for place in held[job] if place in nodes} | {name}
        gone |= victims
        for place in changed:
            options[place] = _cheapest(nodes[place], on_node[place], need, taken.count(place) + 1, losses, gone)
    victims = _spared(nodes, on_node, need, taken, losses, gone)
    return Placement(tuple(taken), victims, sum(losses[job] for job in victims))


def _spared(
    nodes: Mapping[str, Capacity],
    on_node: Mapping[str, Mapping[str, Share]],
    need: Need,
    taken: Sequence[str],
    losses: Mapping[str, float],
    gone: Collection[str],
) -> frozenset[str]:
    """Return who must go: not those whom later ones, that span several nodes, made needless."""
    parts, left = Counter(taken), frozenset(gone)
    for victim in sorted(gone, key=lambda job: (-losses[job], job)):
        fewer = left - {victim}
        if all(fits(nodes[name], _staying(on_node[name], fewer), need, count) for name, count in parts.items()):
            left = fewer
    return left


def _cheapest(
    node: Capacity,
    jobs: Mapping[str, Share],
    need: Need,
    parts: int,
    losses: Mapping[str, float],
    gone: Collection[str],
) -> tuple[float, frozenset[str]] | None:
    """Return the cheapest set of further jobs whose end makes room on a node; None where no set does."""
    if parts > 1 and not need.stacked:
        return None  # the job has its part of this node
    here = {job: share for job, share in jobs.items() if job not in gone}
    names = sorted((job for job in here if job in losses), key=lambda job: (losses[job], job))
    if not fits(node, _staying(here, names), need, parts):
        return None
    best = _enough(node, here, names, need, parts)
    best_loss = sum(losses[job] for job in best)
    looks = 0
    # Depth first over sets in the order of their losses; what costs as much as the best one is not followed.
    stack: list[tuple[int, float, tuple[str, ...]]] = [(0, 0.0, ())]
    while stack and looks < LIMIT:
        index, loss, chosen = stack.pop()
        looks += 1
        if loss >= best_loss:
            continue
        if fits(node, _staying(here, chosen), need, parts):
            best, best_loss = frozenset(chosen), loss
            continue
        following = [(at + 1, loss + losses[names[at]], (*chosen, names[at])) for at in range(index, len(names))]
        stack += [each for each in reversed(following) if each[1] < best_loss]
    return best_loss, best


def _enough(node: Capacity, here: Mapping[str, Share], names: Sequence[str], need: Need, parts: int) -> frozenset[str]:
    """Return a set that makes room, good enough to begin with: the cheapest first, then without those that need not go."""
    chosen: list[str] = []
    for job in names:
        if fits(node, _staying(here, chosen), need, parts):
            break
        chosen.append(job)
    for job in reversed(tuple(chosen)):
        fewer = [each for each in chosen if each != job]
        if fits(node, _staying(here, fewer), need, parts):
            chosen = fewer
    return frozenset(chosen)


def _staying(jobs: Mapping[str, Share], gone: Collection[str]) -> Iterable[Share]:
    """Return what is held on a node once some jobs are gone."""
    return [share for job, share in jobs.items() if job not in gone]
