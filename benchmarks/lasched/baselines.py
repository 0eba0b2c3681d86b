"""What a scheduler could do without a model: the last five jobs that had ended."""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from processors.advise.predictors.dataset import Vector, replay
from processors.advise.predictors.job import Completion, Submission

LAST = 5
KEYS: dict[str, Callable[[Submission], Hashable]] = {
    "VC's last five": lambda job: job.queue,
    "user's last five": lambda job: job.user,
    "user + GPUs": lambda job: (job.user, job.gpus),
}


def last_five(
    jobs: Sequence[Completion], key: Callable[[Submission], Hashable], otherwise: float, known_until: float = math.inf
) -> dict[str, Vector]:
    """Return y by the last five jobs with the same key, in the order of submission: the mean of seconds, and the median.

    A key without a past gets `otherwise`.
    """
    past: defaultdict[Hashable, deque[float]] = defaultdict(lambda: deque(maxlen=LAST))
    means, medians = [], []
    for event in replay(jobs):
        if isinstance(event, Submission):
            known = past.get(key(event))
            means.append(math.log1p(sum(known) / len(known)) if known else otherwise)
            medians.append(math.log1p(float(np.median(known))) if known else otherwise)
        elif event.ended < known_until:
            past[key(event.job)].append(event.duration_s)
    return {"mean": np.array(means), "median": np.array(medians)}
