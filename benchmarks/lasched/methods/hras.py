"""Historical, recency-aware, with shrinkage: history alone (ATLAS, Algorithm 1, lines 13 and 26, and Appendix D)."""

import math
from collections.abc import Hashable

import numpy as np

from processors.advise.predictors.dataset import Dataset, Vector
from processors.advise.predictors.features import KEYS, Encoders
from processors.advise.predictors.history import SHRINKAGE, SPAN

SIGNATURE, GROUP = KEYS.index("signature"), KEYS.index("group")


class Hras:
    """Gives the shrunken mean of the job's signature, else of its group, else of all. Past training it learns nothing."""

    def __init__(self, encoders: Encoders) -> None:
        self._encoders = encoders

    def fit(self, train: Dataset, validation: Dataset) -> None:  # noqa: ARG002
        """Take the means of `train`; `validation` is not needed."""
        self._means: dict[Hashable, tuple[int, float]] = {}
        weight = 2 / (SPAN + 1)
        for done in train.jobs:
            y = math.log1p(done.duration_s)
            keys = self._encoders.keys(done.job)
            for key in (keys[SIGNATURE], keys[GROUP]):
                count, mean = self._means.get(key, (0, y))
                # A plain mean while it is young, then the moving average: whichever changes more.
                self._means[key] = (count + 1, mean + max(weight, 1 / (count + 1)) * (y - mean))

    def predict(self, data: Dataset) -> Vector:
        """Return the shrunken means."""
        return np.array([self._of(self._encoders.keys(done.job)) for done in data.jobs])

    def _of(self, keys: tuple[Hashable, ...]) -> float:
        prior = self._encoders.prior
        for key in (keys[SIGNATURE], keys[GROUP]):
            if key in self._means:
                count, mean = self._means[key]
                return (count * mean + SHRINKAGE * prior) / (count + SHRINKAGE)
        return prior
