"""What Sia knows of a job's goodput: what was seen, and what it makes of that (Sia, section 3.2)."""

from collections.abc import Collection, Sequence

import numpy as np

from benchmarks.simulate.elastic.measurements import Application, Config, Floats

GROWS = 2
"""A job gets at most so many times the GPUs that it was seen on."""


def believed(application: Application, among: Sequence[Config], seen: Collection[int], epoch: int) -> Floats:
    """Return the goodput to expect of each configuration; 0 where a job may not have it.

    What was seen is known. On a type where more than one GPU was not yet seen, a job scales as it does on another type; where it was seen
    nowhere on so many, as if gradients were exchanged in no time.

    Args:
        application: What it trains.
        among: All configurations.
        seen: Places of those in which it, or one like it, was seen.
        epoch: That it is in.
    """
    truth, free = application.goodput[:, epoch], application.unhindered[:, epoch]
    most = GROWS * max(among[place].gpus for place in seen)
    single = {among[place].gpu_type: place for place in seen if among[place].gpus == 1}
    goodput = np.zeros(len(among))
    for place, config in enumerate(among):
        if truth[place] <= 0 or config.gpus > most or config.gpu_type not in single:
            continue
        if place in seen:
            goodput[place] = truth[place]
            continue
        base = single[config.gpu_type]
        like = [
            other
            for other in seen
            if among[other].gpus == config.gpus > 1 and among[other].gpu_type in single and other != place
        ]
        if like:
            other = min(like)
            goodput[place] = truth[other] * truth[base] / truth[single[among[other].gpu_type]]
            continue
        mine = [other for other in seen if among[other].gpu_type == config.gpu_type]
        nearest = min(mine, key=lambda other: (abs(among[other].gpus - config.gpus), other))
        goodput[place] = truth[nearest] * free[place] / free[nearest]
    return goodput
