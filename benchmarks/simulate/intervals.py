"""Means of a few seeds, and how sure they are."""

import numpy as np

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
RESAMPLES = 5000


def mean_and_interval(values: Floats) -> tuple[float, float, float]:
    """Return the mean and its 95 % confidence interval: the percentile bootstrap over seeds; of a single value, thrice that value."""
    draws = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), (2.5, 97.5))
    return float(values.mean()), float(low), float(high)
