"""Gradient-boosted trees (LightGBM, Ke et al., 2017), fitted in one way everywhere."""

from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from .dataset import Matrix, Vector

Inputs = Matrix | NDArray[np.float32]

ROUNDS = 250
"""Maximum number of trees. Fitting stops earlier by `PATIENCE` where validation rows are given."""
PATIENCE = 30
"""Rounds without a gain on validation rows after which fitting stops."""
PARAMETERS: dict[str, Any] = {
    "learning_rate": 0.07,
    "num_leaves": 31,
    "min_data_in_leaf": 50,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "seed": 1,
    "num_threads": 1,   # on a machine that others use, threads that wait for each other made fitting four times as slow
    "deterministic": True,
    "force_row_wise": True,   # what is fastest is measured otherwise, and the measurement differs from run to run
    "verbose": -1,
}  # fmt: skip


def fit_booster(
    train: tuple[Inputs, Vector],
    validation: tuple[Inputs, Vector] | None = None,
    *,
    weight: Vector | None = None,
    rounds: int = ROUNDS,
    **parameters: Any,
) -> lightgbm.Booster:
    """Fit trees on features of shape (rows, columns) and targets of shape (rows,), stopping early on `validation` if given."""
    merged = {"objective": "regression", **PARAMETERS, **parameters}
    merged["min_data_in_leaf"] = min(merged["min_data_in_leaf"], max(1, len(train[1]) // 20))
    data = lightgbm.Dataset(*train, weight=weight)
    if validation is None or not len(validation[1]):
        return lightgbm.train(merged, data, rounds)
    watched = lightgbm.Dataset(*validation, reference=data)
    stop = lightgbm.early_stopping(PATIENCE, verbose=False)
    return lightgbm.train(merged, data, rounds, valid_sets=[watched], callbacks=[stop])


def apply(booster: lightgbm.Booster, x: Inputs) -> Vector:
    """Return the predictions, shape (rows,)."""
    # A loaded model does not keep the number of threads, and one row is too little work for two.
    return np.asarray(booster.predict(x, num_threads=PARAMETERS["num_threads"]), dtype=np.float64)
