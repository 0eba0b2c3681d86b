"""Many futures, and what they have in common."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from .model import Present
from .play import play

FUTURES: Final = 200
"""Simulations for a range. Its 5 % ends rest on ten of them each; more make the ends steadier, and take longer."""
LOW, MIDDLE, HIGH = 0.05, 0.5, 0.95


@dataclass(frozen=True)
class StartRange:
    """Start of a job, in seconds from now.

    Attributes:
        job: The job.
        expected: The median of the futures; infinite where it starts in fewer than half of them.
        low: It starts earlier in one future of twenty.
        high: It starts later in one of twenty, or never (infinite).
        chance: Share of the futures in which it starts at all.
    """

    job: str
    expected: float
    low: float
    high: float
    chance: float


def start_ranges(
    present: Present, *, futures: int = FUTURES, seed: int = 0, progress: Callable[[], None] = lambda: None
) -> list[StartRange]:
    """Return the range of each job that waits, in the order of the queue; the same seed gives the same ranges.

    Args:
        present: The queue.
        futures: How many are played.
        seed: Of the durations.
        progress: Called after each future.
    """
    random = np.random.default_rng(seed)
    starts: dict[str, list[float]] = {each.job: [] for each in present.waiting}
    for _ in range(futures):
        for job, at in play(present, random).items():
            starts[job].append(at)
        progress()
    return [_range(job, sorted(found)) for job, found in starts.items()]


def _range(job: str, found: list[float]) -> StartRange:
    def quantile(share: float) -> float:
        return found[min(int(share * len(found)), len(found) - 1)]

    chance = sum(map(math.isfinite, found)) / len(found)
    return StartRange(job, quantile(MIDDLE), quantile(LOW), quantile(HIGH), chance)
