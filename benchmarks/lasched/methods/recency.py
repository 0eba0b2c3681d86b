"""Models of all, the last half and the last fifth of the past (ATLAS, Algorithm 1, lines 12, 20 and 25; Gama et al., 2014)."""

import numpy as np

from processors.advise.predictors.boosting import apply
from processors.advise.predictors.dataset import Dataset, Vector

from .trees import fit_on

WINDOWS = (1.0, 0.5, 0.2)
"""Shares of the training rows, from the newest."""
DECAY = 2.0
"""λ of the weight exp(-λ (T - t) / T) of a row: the oldest counts e⁻² of the newest. The paper names no value."""
EPSILON = 1e-6


class WeightedRecency:
    """Averages the windows' models, each weighted by the inverse of its error on validation rows."""

    def fit(self, train: Dataset, validation: Dataset) -> None:
        """Fit each window of `train`; weigh them on `validation`."""
        times = np.array([done.job.submitted for done in train.jobs])
        age = (times[-1] - times) / max(1.0, times[-1] - times[0])
        self._models = []
        for share in WINDOWS:
            rows = slice(len(train) - max(1, round(share * len(train))), None)
            self._models.append(fit_on(train.select_rows(rows), validation, weight=np.exp(-DECAY * age[rows])))
        errors = np.array([np.abs(apply(one, validation.x) - validation.y).mean() for one in self._models])
        self._weights = 1 / (errors + EPSILON) / (1 / (errors + EPSILON)).sum()

    def predict(self, data: Dataset) -> Vector:
        """Return the weighted mean of the windows' answers."""
        answers = np.column_stack([apply(one, data.x) for one in self._models])
        return np.asarray(answers @ self._weights, dtype=np.float64)
