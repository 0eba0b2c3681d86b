"""Quantiles with the right coverage: split conformal prediction (Vovk et al. 2005; Romano et al., NeurIPS 2019). Beyond GFS.

Demand is not normally distributed: it is constant for hours and then jumps. The deviation measures the uncertainty of a forecast. The
number of deviations of a quantile comes from the errors on held-out hours, and not from the normal distribution.
"""

import math
from dataclasses import dataclass

import numpy as np

from .demand import Floats, Integers


@dataclass(frozen=True)
class Calibration:
    """Errors of past forecasts in units of their deviations.

    Attributes:
        scores: (actual - mean) / deviation; samples x horizon.
        made: The hour in which each forecast was made.
    """

    scores: Floats
    made: Integers

    @classmethod
    def of(cls, actual: Floats, mean: Floats, deviation: Floats, made: Integers) -> "Calibration":
        """Measure forecasts against what came; all arrays are windows x horizon, but `made`, the hour of each.

        Raises:
            ValueError: There are none, or a value is not finite.
        """
        scores = (actual - mean) / deviation
        if not scores.size or not np.isfinite(scores).all():
            raise ValueError(f"expected finite forecasts and demand, got {scores.shape[0]} windows")
        return cls(scores, made)

    def after(self, older: "Calibration | None", memory: int) -> "Calibration":
        """Return both, without what is `memory` hours or more older than the newest: demand changes, and so do errors."""
        scores, made = self.scores, self.made
        if older is not None:
            scores, made = np.concatenate([older.scores, scores]), np.concatenate([older.made, made])
        recent = made > made.max() - memory
        return Calibration(scores[recent], made[recent])

    def margin(self, p: float) -> Floats:
        """Return how many deviations above the mean the `p`-quantile lies, for each hour ahead.

        The ceil((n + 1) p)-th smallest of n scores: with exchangeable errors at least a share `p` of demand stays below. Where n is too
        small for that, the largest score.
        """
        count = len(self.scores)
        rank = min(count, math.ceil((count + 1) * p))
        margin: Floats = np.partition(self.scores, rank - 1, axis=0)[rank - 1]
        return margin
