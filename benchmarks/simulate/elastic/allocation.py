"""Who gets which GPUs: the integer programme of Sia (section 3.4)."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from benchmarks.simulate.elastic.measurements import Config, Floats

FAIRNESS = -0.5
"""p of Sia's objective: below 0, those who have least gain most."""
WAITS = 1.1
"""What it costs to give a job nothing (lambda): more than any GPUs cost."""
GAP = 1e-3
MOST_NODES = 1000
"""Of the search tree; a bound in seconds would make the outcome depend on how busy the machine is."""


def allocate(
    goodputs: Sequence[Floats],
    present: Sequence[int | None],
    kept: Sequence[float],
    among: Sequence[Config],
    free: Mapping[str, int],
) -> list[int | None]:
    """Return the configuration of each job, None for nothing.

    Args:
        goodputs: By job, what to expect of each configuration; 0 where it may not have it.
        present: By job, what it has.
        kept: By job, the share of its goodput that it keeps when it has to restart.
        among: The configurations.
        free: GPUs by type.
    """
    costs: list[float] = []
    which: list[tuple[int, int]] = []
    for job, goodput in enumerate(goodputs):
        usable = np.flatnonzero(goodput > 0)
        if not len(usable):
            continue
        worth = goodput[usable] / goodput[usable].min()
        if present[job] is not None:
            worth = np.where(usable == present[job], worth, worth * kept[job])
        costs += (np.maximum(worth, 1e-4) ** FAIRNESS - WAITS).tolist()
        which += [(job, int(place)) for place in usable]
    given: list[int | None] = [None] * len(goodputs)
    if not which:
        return given
    types = list(free)
    columns = np.arange(len(which))
    jobs = np.array([job for job, _ in which])
    gpus = np.array([among[place].gpus for _, place in which])
    kinds = np.array([types.index(among[place].gpu_type) for _, place in which])
    matrix = coo_array(
        (np.concatenate([np.ones(len(which)), gpus]), (np.concatenate([jobs, len(goodputs) + kinds]), [*columns] * 2)),
        shape=(len(goodputs) + len(types), len(which)),
    )
    limits = np.concatenate([np.ones(len(goodputs)), [free[each] for each in types]])
    found = milp(
        np.array(costs),
        integrality=np.ones(len(which)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix.tocsr(), -np.inf, limits),
        options={"mip_rel_gap": GAP, "node_limit": MOST_NODES},
    )
    if found.x is None:
        return list(present)
    for column in np.flatnonzero(found.x > 0.5):
        job, place = which[int(column)]
        given[job] = place
    return given
