"""Whom to evict so that one job that waits can start: those that lose least, no more than needed."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
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
    return _Search(need, nodes, held, losses).place()


class _Search:
    """One search: what is held on each node, who is gone so far, and where the parts are.

    Args: those of `least_loss`.
    """

    def __init__(self, need: Need, nodes: Mapping[str, Capacity], held: Held, losses: Mapping[str, float]) -> None:
        self._need = need
        self._nodes = nodes
        self._held = held
        self._losses = losses
        self._on_node: dict[str, dict[str, Share]] = {name: {} for name in nodes}
        for job, places in held.items():
            for name in places.keys() & nodes.keys():
                self._on_node[name][job] = places[name]
        self._gone: set[str] = set()
        self._taken: list[str] = []

    def place(self) -> Placement | None:
        need, taken = self._need, self._taken
        options = {name: self._cheapest(name) for name in self._nodes}
        while len(taken) < need.nodes:
            usable = [name for name in self._nodes if need.stacked or name not in taken]
            left = [name for name in need.required if name not in taken] or usable
            possible = [
                (loss, name, victims) for name in left if (option := options[name]) for loss, victims in [option]
            ]
            if not possible:
                return None
            _, name, victims = min(possible, key=lambda each: each[:2])
            taken.append(name)
            changed = {place for job in victims - self._gone for place in self._held[job] if place in self._nodes}
            self._gone |= victims
            for place in changed | {name}:
                options[place] = self._cheapest(place)
        kept = self._needed_victims()
        return Placement(tuple(taken), kept, sum(self._losses[job] for job in kept))

    def _needed_victims(self) -> frozenset[str]:
        """Return who must go: not those whom later ones, that span several nodes, made needless."""
        left = frozenset(self._gone)
        for victim in sorted(self._gone, key=lambda job: (-self._losses[job], job)):
            fewer = left - {victim}
            if all(self._room(name, self._on_node[name], fewer, count) for name, count in Counter(self._taken).items()):
                left = fewer
        return left

    def _cheapest(self, name: str) -> tuple[float, frozenset[str]] | None:
        """Return the cheapest set of further jobs whose end makes room for one part more; None where no set does."""
        parts = self._taken.count(name) + 1
        if parts > 1 and not self._need.stacked:
            return None  # the job has its part of this node
        losses = self._losses
        here = {job: share for job, share in self._on_node[name].items() if job not in self._gone}
        names = sorted((job for job in here if job in losses), key=lambda job: (losses[job], job))
        if not self._room(name, here, names, parts):
            return None
        best = self._enough(name, here, names, parts)
        best_loss = sum(losses[job] for job in best)
        looks = 0
        # Depth first over sets in the order of their losses; what costs as much as the best one is not followed.
        stack: list[tuple[int, float, tuple[str, ...]]] = [(0, 0.0, ())]
        while stack and looks < LIMIT:
            index, loss, chosen = stack.pop()
            looks += 1
            if loss >= best_loss:
                continue
            if self._room(name, here, chosen, parts):
                best, best_loss = frozenset(chosen), loss
                continue
            following = [(at + 1, loss + losses[names[at]], (*chosen, names[at])) for at in range(index, len(names))]
            stack += [each for each in reversed(following) if each[1] < best_loss]
        return best_loss, best

    def _enough(self, name: str, here: Mapping[str, Share], names: Sequence[str], parts: int) -> frozenset[str]:
        """Return a set that makes room, good enough to begin with: the cheapest first, then without those that need not go."""
        chosen: list[str] = []
        for job in names:
            if self._room(name, here, chosen, parts):
                break
            chosen.append(job)
        for job in reversed(tuple(chosen)):
            fewer = [each for each in chosen if each != job]
            if self._room(name, here, fewer, parts):
                chosen = fewer
        return frozenset(chosen)

    def _room(self, name: str, here: Mapping[str, Share], gone: Collection[str], parts: int) -> bool:
        """Return whether so many parts fit on a node once some jobs are gone."""
        staying = [share for job, share in here.items() if job not in gone]
        return fits(self._nodes[name], staying, self._need, parts)
