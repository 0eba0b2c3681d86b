"""Four losses and a model that learns whom to trust (ATLAS, Algorithm 1, lines 10, 19 and 23, and Appendix D; Wolpert, 1992)."""

from typing import Any

import numpy as np

from processors.advise.predictors.boosting import apply, fit_booster
from processors.advise.predictors.dataset import Dataset, Matrix, Vector

from .trees import column, fit_on

BASES: tuple[dict[str, Any], ...] = (
    {"objective": "regression"},
    {"objective": "huber", "alpha": 0.9},
    {"objective": "quantile", "alpha": 0.5},
    {"objective": "regression", "lambda_l1": 0.5, "lambda_l2": 1.0, "num_leaves": 15},
)
CONTEXT = ("group_mean", "group_count", "signature_median", "signature_std", "signature_count")
EARLIER = 0.8
"""Validation rows, in the order of time: this share fits the upper model, the rest stops it."""


class MetaStack:
    """Boosts the base models' predictions, their spread and what is known of the group."""

    def fit(self, train: Dataset, validation: Dataset) -> None:
        """Fit base models on `train`, the model above them on `validation`."""
        self._bases = [fit_on(train, validation, **base) for base in BASES]
        x, cut = self._inputs(validation), int(len(validation) * EARLIER)
        y = validation.y
        self._meta = fit_booster((x[:cut], y[:cut]), (x[cut:], y[cut:]), num_leaves=15, learning_rate=0.03)

    def predict(self, data: Dataset) -> Vector:
        """Return the upper model's answer."""
        return apply(self._meta, self._inputs(data))

    def _inputs(self, data: Dataset) -> Matrix:
        bases = np.column_stack([apply(base, data.x) for base in self._bases])
        return np.column_stack([bases, bases.std(axis=1), *(column(data, name) for name in CONTEXT)])
