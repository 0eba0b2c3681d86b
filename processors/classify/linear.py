"""A linear model on character n-grams and words: gives the class of a template that no signature knows.

Trained by `benchmarks/classifier/train.py`, which prints its scores; the weights are in the same folder.
"""

from collections.abc import Sequence
from importlib import resources
from typing import IO

import numpy as np
from numpy.typing import NDArray

from .calibration import likely
from .grams import features

LETTERS = "eopw"
"""The classes in the order of the columns."""

WEIGHTS = "linear.npz"

AT_ONCE = 128
"""Templates that are scored together: more would leave the processor's cache."""


class LinearModel:
    """Logistic regression on hashed n-grams and words, calibrated.

    Attributes:
        weights: Shape (buckets, 4).
        bias: Shape (4,).
        curves: Slope and offset of each class's probability, shape (4, 2).
    """

    def __init__(self, weights: NDArray[np.float32], bias: NDArray[np.float32], curves: NDArray[np.float64]) -> None:
        self.weights, self.bias, self.curves = weights, bias, curves
        self._exact = weights.astype(np.float64)

    @classmethod
    def load(cls, file: IO[bytes] | None = None) -> "LinearModel":
        """Return the model in `file`, weights of eight bits with a scale a class; without one, the model that ships."""
        if file is None:
            with resources.files(__package__).joinpath(WEIGHTS).open("rb") as shipped:
                return cls.load(shipped)
        with np.load(file) as stored:
            weights = stored["weights"].astype(np.float32) * stored["scale"]
            return cls(weights, stored["bias"], stored["curves"])

    def scores(self, templates: Sequence[str]) -> NDArray[np.float64]:
        """Return a score a class, shape (len(templates), 4)."""
        found = [self._scores(templates[first : first + AT_ONCE]) for first in range(0, len(templates), AT_ONCE)]
        return np.concatenate(found) if found else np.zeros((0, len(LETTERS)))

    def probabilities(self, templates: Sequence[str]) -> NDArray[np.float64]:
        """Return how likely each template is of each class, shape (len(templates), 4). A row need not add up to 1."""
        return likely(self.scores(templates), self.curves)

    def _scores(self, templates: Sequence[str]) -> NDArray[np.float64]:
        total = np.tile(self.bias.astype(np.float64), (len(templates), 1))
        for buckets, length in features(templates):
            starts = np.cumsum(buckets.counts) - buckets.counts
            # The sums are exact, so a template's do not depend on its neighbours: weights of 24 bits, in so many of 53.
            summed = np.add.reduceat(self._exact.take(buckets.found, axis=0), starts, axis=0)
            total += length * summed / np.sqrt(buckets.counts)[:, None]
        return total
