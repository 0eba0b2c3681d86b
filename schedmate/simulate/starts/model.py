"""The queue as it is now, as far as it matters for who starts when."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
"""Resources of a node, or asked of one: CPUs, memory in MB, GPUs."""

WITHIN_90: Final = 2 * 1.6449
"""Standard deviations between the ends of an interval that holds 90 % of a normal distribution."""


@dataclass(frozen=True)
class Lasting:
    """Distribution of a duration, in seconds.

    Attributes:
        expected: The median of what is expected; None where nothing is known.
        low: Lower end of an interval that holds 90 %.
        high: Upper end; None where there is none.
        limit: The scheduler ends it then; infinite where it does not.
        elapsed: For how long it has lasted already.
    """

    expected: float | None = None
    low: float | None = None
    high: float | None = None
    limit: float = math.inf
    elapsed: float = 0.0

    def draw(self, random: np.random.Generator) -> float:
        """Return a duration from now on that may come true, no longer than what the limit leaves.

        With an interval it is log-normal. Without one, what has lasted for a time t goes on for longer than r with a chance of
        t / (t + r) (Gott, Nature 363, 1993), which is wide; what has not begun takes any share of its limit, with equal chances.
        """
        left = max(self.limit - self.elapsed, 0.0)
        if self.expected is not None and self.expected > 0:
            low = self.low if self.low and self.low > 0 else self.expected / 3
            high = self.high if self.high and self.high > low else max(self.expected * 3, low * 1.01)
            spread = math.log(high / low) / WITHIN_90
            return min(self.expected * math.exp(spread * random.standard_normal()), left)
        share = random.random()
        if self.elapsed > 0:
            return min(self.elapsed * share / (1 - share), left)
        return share * left if math.isfinite(left) else math.inf


@dataclass(frozen=True)
class NodeRoom:
    """A node that may start jobs: its name, its partitions, and what it has in all."""

    name: str
    partitions: Sequence[str]
    room: Vector


@dataclass(frozen=True)
class Running:
    """A job that runs: what it holds of each node (by index), and how long it goes on."""

    job: str
    held: dict[int, Vector]
    lasting: Lasting


@dataclass(frozen=True)
class Waiting:
    """A job that waits.

    Attributes:
        job: Its id.
        need: What it asks for on each of its nodes.
        nodes: How many nodes it needs.
        allowed: Indices of the nodes on which it may run.
        lasting: How long it will take once it started.
        after: It cannot start before, in seconds from now: infinite for one that is held.
        exclusive: No other job may use its nodes.
    """

    job: str
    need: Vector
    nodes: int
    allowed: NDArray[np.intp]
    lasting: Lasting
    after: float = 0.0
    exclusive: bool = False


@dataclass(frozen=True)
class Present:
    """All of it: jobs that wait stand in the order in which the scheduler looks at them."""

    nodes: Sequence[NodeRoom]
    running: Sequence[Running]
    waiting: Sequence[Waiting]
