"""The least possible maximum stretch on one machine, by bisection on whether all deadlines can be met (LASched, section 3.4)."""

import numpy as np

from .single_machine import Times, preemptive

TOLERANCE = 1e-4
"""Bisection stops at this relative width."""


def stretches(release: Times, size: Times, done: Times) -> Times:
    """Return (completion - release) / size of each job."""
    return (done - release) / size


def feasible(release: Times, size: Times, stretch: float) -> bool:
    """Tell whether each job can end by release + stretch · size: EDF meets all deadlines if any schedule does (Dertouzos, 1974)."""
    deadline = release + stretch * size
    done = preemptive(release, size, deadline, falls=False)
    return bool(np.all(done <= deadline * (1 + 1e-12) + 1e-9))


def optimal_stretch(release: Times, size: Times) -> float:
    """Return the least maximum stretch, to `TOLERANCE`, from above: it is feasible."""
    low, high = 1.0, 2.0
    if feasible(release, size, low):
        return low
    while not feasible(release, size, high):
        low, high = high, 2 * high
    while high - low > TOLERANCE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if feasible(release, size, middle) else (middle, high)
    return high
