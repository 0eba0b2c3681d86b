"""A median whose scale is corrected and whose order is kept (ATLAS, Algorithm 1, lines 18 and 23; Zadrozny and Elkan, 2002)."""

import numpy as np
from sklearn.isotonic import IsotonicRegression

from processors.advise.predictors.boosting import apply
from processors.advise.predictors.dataset import Dataset, Vector

from .trees import fit_on


class IsotonicMedian:
    """Maps the predicted median to y by a rising function that validation rows give."""

    def fit(self, train: Dataset, validation: Dataset) -> None:
        """Fit the median on `train`, the rising function on `validation`."""
        self._median = fit_on(train, validation, objective="quantile", alpha=0.5)
        self._map = IsotonicRegression(out_of_bounds="clip").fit(apply(self._median, validation.x), validation.y)

    def predict(self, data: Dataset) -> Vector:
        """Return the corrected median."""
        return np.asarray(self._map.predict(apply(self._median, data.x)), dtype=np.float64)
