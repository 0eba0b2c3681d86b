"""Short, middling or long first, how long then (ATLAS, Algorithm 1, lines 11 and 24, and Appendix D; Jordan and Jacobs, 1994)."""

from typing import Any

import lightgbm
import numpy as np

from processors.advise.predictors.boosting import apply, fit_booster
from processors.advise.predictors.dataset import Dataset, Vector

from .trees import fit_on

EDGES = (0.3, 0.7)
"""Quantiles of y in training that divide the classes."""
CAPACITY: tuple[dict[str, Any], ...] = ({"num_leaves": 15}, {"num_leaves": 31}, {"num_leaves": 63})
"""Long jobs vary most: their expert may be the most complex."""
FEWEST = 50
"""Validation rows of a class that may stop its expert."""


class TwoStage:
    """Adds up an expert for each class, weighted by the probability of the class."""

    def fit(self, train: Dataset, validation: Dataset) -> None:
        """Fit classifier and experts on `train`; `validation` says when to stop."""
        edges = np.quantile(train.y, EDGES)
        of_train, of_validation = np.digitize(train.y, edges), np.digitize(validation.y, edges)
        self._gate = fit_booster(
            (train.x, of_train.astype(np.float64)),
            (validation.x, of_validation.astype(np.float64)),
            objective="multiclass",
            num_class=len(CAPACITY),
        )
        self._experts: list[lightgbm.Booster | float] = []
        for number, capacity in enumerate(CAPACITY):
            rows, watched = train.select_rows(of_train == number), validation.select_rows(of_validation == number)
            if len(rows):
                self._experts.append(fit_on(rows, watched if len(watched) >= FEWEST else None, rounds=200, **capacity))
            else:  # all durations are alike
                self._experts.append(float(train.y.mean()))

    def predict(self, data: Dataset) -> Vector:
        """Return the experts' answers, weighted."""
        odds = np.asarray(self._gate.predict(data.x), dtype=np.float64)
        answers = [np.full(len(data), one) if isinstance(one, float) else apply(one, data.x) for one in self._experts]
        return np.asarray((odds * np.column_stack(answers)).sum(axis=1), dtype=np.float64)
