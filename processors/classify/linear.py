"""A linear model on character n-grams and words: tells the class of a template that no signature knows.

Trained by `benchmarks/classifier/train.py`, which says how well it does; the weights stand beside this file.
"""

from collections.abc import Sequence
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from .calibration import likely
from .grams import features

LETTERS = "eopw"
"""The classes in the order of the columns."""

WEIGHTS = "linear.npz"


class LinearModel:
    """Logistic regression on hashed n-grams and words, calibrated.

    Attributes:
        weights: Shape (buckets, 4).
        bias: Shape (4,).
        curves: Slope and offset of each class's probability, shape (4, 2).
    """

    def __init__(self, weights: NDArray[np.float32], bias: NDArray[np.float32], curves: NDArray[np.float64]) -> None:
        self.weights, self.bias, self.curves = weights, bias, curves

    @classmethod
    def load(cls) -> "LinearModel":
        """Return the model that ships: weights of eight bits with a scale a class."""
        with resources.files(__package__).joinpath(WEIGHTS).open("rb") as file, np.load(file) as stored:
            weights = stored["weights"].astype(np.float32) * stored["scale"]
            return cls(weights, stored["bias"], stored["curves"])

    def scores(self, templates: Sequence[str]) -> NDArray[np.float64]:
        """Return a score a class, shape (len(templates), 4)."""
        found = [self._score(*features(template)) for template in templates]
        return np.array(found, np.float64).reshape(len(templates), len(LETTERS))

    def probabilities(self, templates: Sequence[str]) -> NDArray[np.float64]:
        """Return how likely each template is of each class, shape (len(templates), 4). A row need not add up to 1."""
        return likely(self.scores(templates), self.curves)

    def _score(self, buckets: NDArray[np.int64], values: NDArray[np.float32]) -> NDArray[np.float32]:
        summed: NDArray[np.float32] = values @ self.weights[buckets]
        return summed + self.bias
