"""Resources of nodes, shares of jobs, and needs of waiting jobs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, Self

ROUNDING = 1e-9
"""Sums of fractions are off by less than this."""
WHOLE = 1.0 - ROUNDING
"""A GPU of which this much is free is free as a whole: parts of a GPU are fractions, and their sum is rounded."""


class NodeResources(Protocol):
    """Resources of a node."""

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
    """Resources that a job requests or holds on one node.

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
    """Resources that a waiting job requests.

    Attributes:
        nodes: Number of nodes; with `stacked`, of parts.
        cpus: CPUs on each of them.
        memory: MB on each of them.
        gpus: GPUs on each of them; 1.5 is a whole one and half of another.
        required: Nodes that it asks for by name.
        exclusive: No other job may use them.
        stacked: Several parts of it may be on one node (pods).
    """

    nodes: int = 1
    cpus: float = 0.0
    memory: float = 0.0
    gpus: float = 0.0
    required: tuple[str, ...] = ()
    exclusive: bool = False
    stacked: bool = False


class Room(NamedTuple):
    """Free resources of a node.

    Attributes:
        cpus: Number of CPUs.
        memory: In MB.
        gpus: What is left of each GPU, 0 to 1.
        jobs: How many jobs are there.
    """

    cpus: float
    memory: float
    gpus: tuple[float, ...]
    jobs: int = 0

    @classmethod
    def from_shares(cls, node: NodeResources, held: Iterable[Share]) -> Self:
        """Return the free resources of a node on which jobs hold these."""
        return cls(node.cpus, node.memory, (1.0,) * node.gpus).occupy(*held)

    def release(self, *shares: Share) -> Self:
        """Return the free resources after jobs release these."""
        return self._changed(shares, 1)

    def occupy(self, *shares: Share) -> Self:
        """Return the free resources after further jobs take these."""
        return self._changed(shares, -1)

    def fits(self, need: Need, parts: int = 1) -> bool:
        """Return whether so many parts of a need fit."""
        if self.jobs and need.exclusive:
            return False
        if self.cpus + ROUNDING < parts * need.cpus or self.memory + ROUNDING < parts * need.memory:
            return False
        whole = int(need.gpus + ROUNDING)
        part = need.gpus - whole
        if sum(free >= WHOLE for free in self.gpus) < parts * whole:
            return False
        if part <= ROUNDING:
            return True
        rest = sorted(self.gpus, reverse=True)[parts * whole :]
        return sum(int(free / part + ROUNDING) for free in rest if free > 0) >= parts

    def _changed(self, shares: Sequence[Share], sign: int) -> Self:
        cpus, memory, gpus = self.cpus, self.memory, list(self.gpus)
        for share in shares:
            cpus += sign * share.cpus
            memory += sign * share.memory
            for index, part in share.gpus.items():
                if index < len(gpus):
                    gpus[index] += sign * part
        return type(self)(cpus, memory, tuple(gpus), self.jobs - sign * len(shares))
