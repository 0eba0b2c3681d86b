"""How good predictions are (LASched, section 3.4), with bootstrap intervals."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

Values = NDArray[np.float64]
RESAMPLES = 200
SEED = 1


def relative_error(predicted: Values, true: Values) -> Values:
    """Return |p̂ - p| / p of durations in seconds."""
    return np.abs(predicted - true) / true


def below_100(predicted: Values, true: Values) -> float:
    """Return the share with a relative error below 100 %, in per cent. It forgives every estimate that is too low."""
    return float(100 * np.mean(relative_error(predicted, true) < 1))


def within_factor_2(predicted: Values, true: Values) -> float:
    """Return the share with 1/2 ≤ p̂ / p ≤ 2, in per cent: as `below_100`, but it forgives neither side."""
    ratio = (1 + predicted) / (1 + true)
    return float(100 * np.mean((ratio <= 2) & (ratio >= 0.5)))


def coverage(tolerance: float) -> Callable[[Values, Values], float]:
    """Return the measure Cov@τ: the share with a relative error of at most τ, in per cent."""
    return lambda predicted, true: float(100 * np.mean(relative_error(predicted, true) <= tolerance))


def rmsle(predicted: Values, true: Values) -> float:
    """Return the root mean squared error of ln(1 + p)."""
    return float(np.sqrt(np.mean(np.square(np.log1p(predicted) - np.log1p(true)))))


def spearman(predicted: Values, true: Values) -> float:
    """Return Spearman's rho; 0 where all predictions are alike."""
    return 0.0 if np.ptp(predicted) == 0 or np.ptp(true) == 0 else float(spearmanr(predicted, true).statistic)


MEASURES: dict[str, Callable[[Values, Values], float]] = {
    "<100 %": below_100,
    "factor 2": within_factor_2,
    "Cov@25": coverage(0.25),
    "Cov@50": coverage(0.50),
    "RMSLE": rmsle,
    "rho": spearman,
}


def bootstrap(
    measure: Callable[[Values, Values], float], predicted: Values, true: Values, blocks: NDArray[np.int64]
) -> tuple[float, float]:
    """Return the 95 % interval of a measure by resampling whole blocks, such as a user's day: jobs of one burst are alike.

    Args:
        measure: of predictions and truths.
        predicted: seconds, shape (jobs,).
        true: seconds, shape (jobs,).
        blocks: a number for each job, shape (jobs,).
    """
    order = np.argsort(blocks, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(blocks[order])) + 1)
    lot = np.random.default_rng(SEED)
    drawn = []
    for _ in range(RESAMPLES):
        rows = np.concatenate([members[block] for block in lot.integers(len(members), size=len(members))])
        drawn.append(measure(predicted[rows], true[rows]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)
