"""Schedules jobs that are all there at time 0 on m identical machines, without pre-emption: P || C_max (LASched, section 3.3)."""

import heapq

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]


def list_scheduling(size: Times, order: NDArray[np.int64], machines: int) -> float:
    """Return the makespan if each job, in this order, goes to the machine that is free first.

    The order makes the policy: longest first (LPT, or LPPT by prediction), shortest first (SPT, SPPT), as listed (greedy).
    """
    free = [0.0] * machines
    for job in order:
        heapq.heapreplace(free, free[0] + float(size[job]))
    return max(free)


def random_assignment(size: Times, machines: int, seed: int) -> float:
    """Return the makespan if each job goes to a machine by lot."""
    machine = np.random.default_rng(seed).integers(machines, size=len(size))
    return float(np.bincount(machine, weights=size, minlength=machines).max())


def mcnaughton_bound(size: Times, machines: int) -> float:
    """Return the optimum with pre-emption, a lower bound without: max(total / m, longest) (McNaughton, 1959)."""
    return max(float(size.sum()) / machines, float(size.max()))
