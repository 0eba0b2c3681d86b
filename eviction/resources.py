"""What a node has, what a job holds of it, and what another one needs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

ROUNDING = 1e-9
"""Sums of fractions are off by less than this."""
WHOLE = 1.0 - ROUNDING
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


class Room:
    """What is left of a node beside what jobs hold of it.

    Args:
        node: What the node has.
        held: What each job holds of it.
    """

    __slots__ = ("_cpus", "_gpus", "_jobs", "_memory")

    def __init__(self, node: Capacity, held: Iterable[Share]) -> None:
        self._cpus, self._memory, self._gpus, self._jobs = node.cpus, node.memory, [1.0] * node.gpus, 0
        for share in held:
            self._change(share, -1)

    def without(self, share: Share) -> "Room":
        """Return what is left once a job that holds this is gone."""
        return self._changed(share, 1)

    def beside(self, share: Share) -> "Room":
        """Return what is left beside one job more."""
        return self._changed(share, -1)

    def fits(self, need: Need, parts: int = 1) -> bool:
        """Return whether so many parts of a need fit."""
        if self._jobs and need.exclusive:
            return False
        if self._cpus + ROUNDING < parts * need.cpus or self._memory + ROUNDING < parts * need.memory:
            return False
        whole = int(need.gpus + ROUNDING)
        part = need.gpus - whole
        if sum(free >= WHOLE for free in self._gpus) < parts * whole:
            return False
        if part <= ROUNDING:
            return True
        rest = sorted(self._gpus, reverse=True)[parts * whole :]
        return sum(int(free / part + ROUNDING) for free in rest if free > 0) >= parts

    def _changed(self, share: Share, sign: int) -> "Room":
        other = Room.__new__(Room)
        other._cpus, other._memory, other._gpus, other._jobs = self._cpus, self._memory, self._gpus.copy(), self._jobs
        other._change(share, sign)
        return other

    def _change(self, share: Share, sign: int) -> None:
        self._jobs -= sign
        self._cpus += sign * share.cpus
        self._memory += sign * share.memory
        for index, part in share.gpus.items():
            if index < len(self._gpus):
                self._gpus[index] += sign * part
