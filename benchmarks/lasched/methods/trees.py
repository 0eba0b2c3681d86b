"""Boosted trees on all features, as most methods fit them."""

from typing import Any

import lightgbm
import numpy as np

from processors.advise.predictors.boosting import fit_booster
from processors.advise.predictors.dataset import Dataset, Vector
from processors.advise.predictors.features import NAMES


def fit_on(train: Dataset, validation: Dataset | None = None, **parameters: Any) -> lightgbm.Booster:
    """Fit trees on all features and y."""
    return fit_booster((train.x, train.y), (validation.x, validation.y) if validation else None, **parameters)


def column(data: Dataset, name: str) -> Vector:
    """Return one feature of all rows, with 0 where there is none (ATLAS, Algorithm 2, line 6)."""
    return np.nan_to_num(data.x[:, NAMES.index(name)])
