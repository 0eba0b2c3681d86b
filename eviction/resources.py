"""What a node has, what a job holds of it, and what another one needs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

WHOLE = 1.0 - 1e-9
"""A GPU of which this much is free is free as a whole: parts of a GPU are fractions, and their sum is rounded."""


class Capacity(Protocol):
    """What a node has."""

    @property
    def cpus(self) -> float:
        """Number of CPUs."""

    @property
    def memory(self) -> float:
        """In MB."""

    @property
    def gpus(self) -> int:
        """Number of GPUs."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a job asks for, or holds, on one node.

    Attributes:
        cpus: Number of CPUs.
        memory: In MB.
        gpus: Part of each GPU that it holds, by index, 0 to 1.
    """

    cpus: float = 0.0
    memory: float = 0.0
    gpus: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Need:
    """What a job that waits asks for.

    Attributes:
        nodes: Number of nodes; with `stacked`, of parts.
        cpus: CPUs on each of them.
        memory: MB on each of them.
        gpus: GPUs on each of them; 1.5 is a whole one and half of another.
        required: Nodes that it asks for by name.
        exclusive: Nobody else may be on them.
        stacked: Several parts of it may be on one node (pods).
    """

    nodes: int = 1
    cpus: float = 0.0
    memory: float = 0.0
    gpus: float = 0.0
    required: tuple[str, ...] = ()
    exclusive: bool = False
    stacked: bool = False


def fits(node: Capacity, held: Iterable[Share], need: Need, parts: int = 1) -> bool:
    """Return whether so many parts of a need fit on a node beside what is held."""
    held = list(held)
    if held and need.exclusive:
        return False
    cpus, memory, used = node.cpus, node.memory, dict.fromkeys(range(node.gpus), 0.0)
    for share in held:
        cpus -= share.cpus
        memory -= share.memory
        for index, part in share.gpus.items():
            used[index] = used.get(index, 0.0) + part
    if cpus < parts * need.cpus or memory < parts * need.memory:
        return False
    whole = int(need.gpus + 1 - WHOLE)
    part = need.gpus - whole
    free = sorted((1 - taken for taken in used.values()), reverse=True)
    if sum(room >= WHOLE for room in free) < parts * whole:
        return False
    rest = free[parts * whole :]
    return part <= 1 - WHOLE or sum(int(room / part + 1 - WHOLE) for room in rest if room > 0) >= parts
