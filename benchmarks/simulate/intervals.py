"""Means of a few seeds, and how sure they are."""

import numpy as np

T_975 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}
"""Student's t at 97.5 % by degrees of freedom."""


def mean_and_interval(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> tuple[float, float]:
    """Return the mean, and half the width of its 95 % confidence interval (Student's t); 0 for a single value."""
    if len(values) < 2:
        return float(values.mean()), 0.0
    t = T_975.get(len(values) - 1, 2.0)
    return float(values.mean()), float(t * values.std(ddof=1) / np.sqrt(len(values)))
