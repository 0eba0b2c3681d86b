"""Conformalised quantile regression with a blended centre (ATLAS, Algorithm 1, lines 9, 15-17 and 22; Romano et al., 2019)."""

import numpy as np
from sklearn.linear_model import Ridge

from processors.advise.predictors.boosting import apply
from processors.advise.predictors.dataset import Dataset, Matrix, Vector

from .trees import column, fit_on

LEVELS = (0.1, 0.5, 0.9)
WIDENING = 0.6
"""The quantile of the conformity scores by which the bounds move. ATLAS takes 0.6: its bounds are features, not intervals."""
PRIORS = ("user_mean", "group_mean", "signature_mean")


class CqrStack:
    """Blends the median, conformal bounds, a mean and causal priors by ridge regression on validation rows."""

    def fit(self, train: Dataset, validation: Dataset) -> None:
        """Fit quantiles and a mean on `train`; widening and blend on `validation`."""
        self._quantiles = [fit_on(train, validation, objective="quantile", alpha=level) for level in LEVELS]
        self._mean = fit_on(train, validation)
        low, _, high = (apply(one, validation.x) for one in self._quantiles)
        scores = np.maximum(0.0, np.maximum(low - validation.y, validation.y - high))
        self._widening = float(np.quantile(scores, WIDENING))
        self._blend = Ridge().fit(self._inputs(validation), validation.y)

    def predict(self, data: Dataset) -> Vector:
        """Return the blend."""
        return np.asarray(self._blend.predict(self._inputs(data)), dtype=np.float64)

    def bounds(self, data: Dataset) -> tuple[Vector, Vector]:
        """Return the conformal bounds on y."""
        low, _, high = (apply(one, data.x) for one in self._quantiles)
        return low - self._widening, high + self._widening

    def _inputs(self, data: Dataset) -> Matrix:
        low, high = self.bounds(data)
        median = apply(self._quantiles[1], data.x)
        clipped = np.clip(median, low, np.maximum(low, high))
        priors = [column(data, name) for name in PRIORS]
        return np.column_stack([low, median, high, clipped, apply(self._mean, data.x), *priors])
