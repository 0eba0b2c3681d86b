"""How good predictions are (LASched, section 3.4), with bootstrap intervals.

Each measure is a function of sums over jobs, so that a resample of whole blocks costs a product of matrices and not a pass over all jobs.
"""

from collections.abc import Callable

import msgspec
import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
RESAMPLES = 500
SEED = 1


class Measure(msgspec.Struct, frozen=True):
    """A number that follows from the means of what each job adds."""

    of_job: Callable[[Values, Values], Values]
    """From predicted and true seconds, shape (jobs,), to what each job adds, shape (jobs, terms)."""
    combine: Callable[[Values], Values]
    """From means, shape (..., terms), to the measure, shape (...)."""

    def __call__(self, predicted: Values, true: Values) -> float:
        """Return the measure of all jobs."""
        return float(self.combine(self.of_job(predicted, true).mean(axis=0)))

    def interval(self, predicted: Values, true: Values, blocks: NDArray[np.int64]) -> tuple[float, float]:
        """Return the 95 % interval by resampling whole blocks, such as a user's day: jobs of one burst are alike.

        Spearman's ranks stay those of all jobs.

        Args:
            predicted: seconds, shape (jobs,).
            true: seconds, shape (jobs,).
            blocks: from 0, shape (jobs,).
        """
        terms, count = self.of_job(predicted, true), int(blocks.max()) + 1
        sums = np.zeros((count, terms.shape[1]))
        np.add.at(sums, blocks, terms)
        sizes = np.bincount(blocks, minlength=count)
        drawn = (
            np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), size=RESAMPLES).astype(np.float64)
        )
        found = self.combine((drawn @ sums) / (drawn @ sizes)[:, None])
        low, high = np.quantile(found, [0.025, 0.975])
        return float(low), float(high)


def relative_error(predicted: Values, true: Values) -> Values:
    """Return |p̂ - p| / p of durations in seconds."""
    return np.asarray(np.abs(predicted - true) / true)


def _share(holds: Callable[[Values, Values], NDArray[np.bool_]]) -> Measure:
    """Return the share of jobs for which something holds, in per cent."""
    return Measure(
        lambda predicted, true: np.where(holds(predicted, true), 100.0, 0.0)[:, None], lambda means: means[..., 0]
    )


def _within_factor_2(predicted: Values, true: Values) -> NDArray[np.bool_]:
    ratio = (1 + predicted) / (1 + true)
    return np.asarray((ratio <= 2) & (ratio >= 0.5))


def _squared_log_error(predicted: Values, true: Values) -> Values:
    return np.asarray(np.square(np.log1p(predicted) - np.log1p(true)))[:, None]


def _ranks(values: Values) -> Values:
    """Return ranks from 1, shape (jobs,); equal values share the mean of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def _rank_products(predicted: Values, true: Values) -> Values:
    one, other = (_ranks(values) / len(values) for values in (predicted, true))
    return np.column_stack([one, other, one * other, one * one, other * other])


def _correlation(means: Values) -> Values:
    one, other, product, square, other_square = np.moveaxis(means, -1, 0)
    spread = np.sqrt(np.maximum(0, square - one * one) * np.maximum(0, other_square - other * other))
    return np.where(spread > 1e-9, (product - one * other) / np.maximum(spread, 1e-9), 0.0)


BELOW_100 = _share(lambda predicted, true: relative_error(predicted, true) < 1)
"""The share with a relative error below 100 %. It forgives every estimate that is too low."""
FACTOR_2 = _share(_within_factor_2)
"""The share with 1/2 ≤ p̂ / p ≤ 2: as the one before, but it forgives neither side."""
RMSLE = Measure(_squared_log_error, lambda means: np.sqrt(means[..., 0]))
"""The root mean squared error of ln(1 + p)."""
SPEARMAN = Measure(_rank_products, _correlation)
"""Spearman's rank correlation; 0 where all predictions are alike."""

MEASURES: dict[str, Measure] = {
    "<100 %": BELOW_100,
    "factor 2": FACTOR_2,
    "Cov@25": _share(lambda predicted, true: relative_error(predicted, true) <= 0.25),
    "Cov@50": _share(lambda predicted, true: relative_error(predicted, true) <= 0.50),
    "RMSLE": RMSLE,
    "rho": SPEARMAN,
}
