"""What a model without a history could do."""

import lightgbm
import numpy as np

from processors.advise.predictors.boosting import apply
from processors.advise.predictors.dataset import Dataset, Vector
from processors.advise.predictors.features import NAMES, PLAIN


class PlainTrees:
    """LightGBM as it comes, on what the job asks for, when, and by whom; no history."""

    def fit(self, train: Dataset, validation: Dataset) -> None:
        """Fit on both: nothing is tuned."""
        x, y = np.vstack([train.x, validation.x]), np.concatenate([train.y, validation.y])
        settings = {"verbose": -1, "num_threads": 1, "seed": 1}
        self._model = lightgbm.train(settings, lightgbm.Dataset(x[:, self._columns], y), 100)

    def predict(self, data: Dataset) -> Vector:
        """Return the trees' answer."""
        return apply(self._model, data.x[:, self._columns])

    _columns = [NAMES.index(name) for name in PLAIN]
