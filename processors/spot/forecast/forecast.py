"""What a forecaster says, and what it may be asked."""

from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Protocol

import numpy as np

from processors.spot.forecast.conformal import Calibration
from processors.spot.forecast.demand import DemandHistory, Floats, Windows


@dataclass(frozen=True)
class Forecast:
    """A normal distribution of demand for each window and each hour ahead (GFS, section 3.2.3).

    Attributes:
        mean: GPUs, windows x horizon.
        deviation: Standard deviations in GPUs, of the same shape.
        calibration: What past forecasts were off by; without it quantiles are those of the normal distribution.
    """

    mean: Floats
    deviation: Floats
    calibration: Calibration | None = field(default=None, repr=False)

    def quantile(self, p: float) -> Floats:
        """Return the demand that is not exceeded with probability `p`, in GPUs, never below 0.

        Raises:
            ValueError: `p` is not between 0 and 1.
        """
        if not 0 < p < 1:
            raise ValueError(f"expected a probability between 0 and 1, got {p}")
        margin = self.calibration.margin(p) if self.calibration else NormalDist().inv_cdf(p)
        return np.maximum(self.mean + margin * self.deviation, 0.0)


class Forecaster(Protocol):
    """Forecasts demand.

    Attributes:
        name: What it is called.
        length: Hours that it looks back on.
    """

    name: str
    length: int

    def fit(self, history: DemandHistory, horizon: int) -> None:
        """Learn from a history.

        Raises:
            ValueError: It is too short.
        """

    def forecast(self, windows: Windows) -> Forecast:
        """Forecast demand, for the organisations and the horizon learnt from."""
