"""How good forecasts were."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from processors.spot.forecast import Forecast
from processors.spot.forecast.demand import Floats


class Scores(NamedTuple):
    """Errors over all organisations, hours and hours ahead.

    `mape` leaves out hours in which less than one GPU was wanted. `maqe`: GFS defines it in words ("average absolute error between
    predicted and actual values at a quantile level"); it is read as the quantile loss, twice and over mean demand as in DeepAR's
    evaluation. `covered`: share of demand at or below the quantile; right is the quantile's own level.
    """

    mae: float
    rmse: float
    mape: float
    maqe_90: float
    maqe_95: float
    covered_90: float
    covered_95: float


def score(forecasts: Sequence[Forecast], actuals: Sequence[Floats]) -> Scores:
    actual = np.concatenate(actuals)
    error = np.maximum(np.concatenate([each.mean for each in forecasts]), 0) - actual
    wanted = actual >= 1
    at_90, at_95 = (np.concatenate([each.quantile(p) for each in forecasts]) for p in (0.9, 0.95))
    return Scores(
        float(np.abs(error).mean()),
        float(np.sqrt((error**2).mean())),
        float((np.abs(error[wanted]) / actual[wanted]).mean()),
        quantile_loss(at_90, actual, 0.9),
        quantile_loss(at_95, actual, 0.95),
        float((actual <= at_90 + 1e-9).mean()),
        float((actual <= at_95 + 1e-9).mean()),
    )


def quantile_loss(quantile: Floats, actual: Floats, p: float) -> float:
    above = actual - quantile
    return float(2 * np.maximum(p * above, (p - 1) * above).sum() / np.abs(actual).sum())
