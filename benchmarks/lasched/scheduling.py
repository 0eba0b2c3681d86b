"""LASched's scheduling task (Table 4): three objectives, each relative to its optimum; lower is better."""

from collections.abc import Callable

import numpy as np

from .makespan import list_scheduling, mcnaughton_bound, random_assignment
from .single_machine import Times, least_attained_service, non_preemptive, preemptive, preferential_round_robin
from .stretch import optimal_stretch, stretches

PREFERRED = 0.7
"""λ of PRR (section 4)."""
MACHINES = 64
SEED = 1

Row = tuple[str, tuple[float, ...]]


def total_completion(release: Times, size: Times, predicted: dict[str, Times]) -> list[Row]:
    """Return Σ C of each policy on one machine over that of SRPT, which is optimal (Schrage, 1968)."""
    best = preemptive(release, size, size, falls=True).sum()
    rows: list[tuple[str, Times]] = [
        ("SJF", non_preemptive(release, size, size)),
        ("RR", preferential_round_robin(release, size, size, 0.0)),
        ("LAS", least_attained_service(release, size)),
        ("FIFO", non_preemptive(release, size, release)),
    ]
    for name, guess in predicted.items():
        rows.append((f"{name}-SPJF", non_preemptive(release, size, guess)))
        rows.append((f"{name}-PRR", preferential_round_robin(release, size, guess, PREFERRED)))
    return [("SRPT", (1.0,)), *((name, (float(done.sum() / best),)) for name, done in rows)]


def max_stretch(release: Times, size: Times, predicted: dict[str, Times]) -> list[Row]:
    """Return the largest, 99th percentile and median stretch of each policy over those of EDF at the optimal stretch S*.

    EDF-P's deadlines are release + S* · prediction: the paper names no S_adv, and S* gives it the best that a guess could know.
    """
    limit = optimal_stretch(release, size)

    def edf(guess: Times) -> Times:
        return preemptive(release, size, release + limit * guess, falls=False)

    reference = _levels(stretches(release, size, edf(size)))
    rows = [
        ("SRPT", preemptive(release, size, size, falls=True)),
        ("LAS", least_attained_service(release, size)),
    ]
    for name, guess in predicted.items():
        rows.append((f"{name}-SPRPT", preemptive(release, size, guess, falls=True)))
        rows.append((f"{name}-EDF-P", edf(guess)))
    ratios = [(name, _levels(stretches(release, size, done)) / reference) for name, done in rows]
    return [("OPT (EDF at S*)", (1.0, 1.0, 1.0)), *((name, tuple(float(one) for one in row)) for name, row in ratios)]


def makespan(size: Times, predicted: dict[str, Times], machines: int = MACHINES) -> list[Row]:
    """Return the makespan of each policy over McNaughton's bound, all jobs being there at time 0."""
    bound = mcnaughton_bound(size, machines)

    def ratio(order: Times) -> tuple[float, ...]:
        return (list_scheduling(size, np.argsort(order, kind="stable"), machines) / bound,)

    rows: list[Row] = [
        ("LPT", ratio(-size)),
        ("SPT", ratio(size)),
        ("Greedy", ratio(np.arange(len(size), dtype=float))),
    ]
    rows.append(("Random", (random_assignment(size, machines, SEED) / bound,)))
    for name, guess in predicted.items():
        rows += [(f"{name}-LPPT", ratio(-guess)), (f"{name}-SPPT", ratio(guess))]
    return rows


def _levels(found: Times) -> Times:
    return np.array([found.max(), np.quantile(found, 0.99), np.median(found)])


OBJECTIVES: dict[str, Callable[[Times, Times, dict[str, Times]], list[Row]]] = {
    "total completion time": total_completion,
    "max-stretch": max_stretch,
    "makespan": lambda _, size, predicted: makespan(size, predicted),
}
