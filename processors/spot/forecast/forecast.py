"""Forecasts of demand, the protocol of forecasters, and their calibration on hours that they did not learn from."""

import math
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Protocol

import numpy as np

from .demand import DemandHistory, Floats, Integers, Windows


@dataclass(frozen=True)
class Calibration:
    """Errors of past forecasts in units of their deviations: split conformal prediction (Vovk et al. 2005; Romano et al., NeurIPS 2019).

    Beyond GFS. Demand is not normally distributed: it is constant for hours and then jumps. The deviation measures the uncertainty of a
    forecast. The number of deviations of a quantile comes from the errors on held-out hours, and not from the normal distribution.

    Attributes:
        scores: (actual - mean) / deviation; samples x horizon.
        made: The hour in which each forecast was made.
    """

    scores: Floats
    made: Integers

    @classmethod
    def from_forecasts(cls, actual: Floats, mean: Floats, deviation: Floats, made: Integers) -> "Calibration":
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


@dataclass(frozen=True)
class Forecast:
    """A normal distribution of demand for each window and each hour ahead (GFS, section 3.2.3).

    Attributes:
        mean: GPUs, windows x horizon.
        deviation: Standard deviations in GPUs, of the same shape.
        calibration: Errors of past forecasts; without it quantiles are those of the normal distribution.
    """

    mean: Floats
    deviation: Floats
    calibration: Calibration | None = field(default=None, repr=False)

    def quantile(self, p: float) -> Floats:
        """Return the demand that is not exceeded with probability `p`, in GPUs, never below 0.

        Raises:
            ValueError: `p` is not between 0 and 1.
        """
        return np.maximum(self.mean + _margin(self.calibration, p) * self.deviation, 0.0)


def _margin(calibration: Calibration | None, p: float) -> Floats | float:
    """Return how many deviations above the mean the `p`-quantile is."""
    if not 0 < p < 1:
        raise ValueError(f"expected a probability between 0 and 1, got {p}")
    return calibration.margin(p) if calibration else NormalDist().inv_cdf(p)


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


class Calibrated:
    """Any forecaster with conformal quantiles (`Calibration`).

    Args:
        forecaster: Who forecasts.
        share: Share of the history, its end, whose forecasts calibrate; a model that did not learn from it makes them, and the
            forecaster then learns from all.
        memory: Hours of forecasts remembered, the newest; two weeks by default.
    """

    def __init__(self, forecaster: Forecaster, share: float = 0.25, memory: int = 24 * 14) -> None:
        self.forecaster = forecaster
        self.name = forecaster.name
        self.length = forecaster.length
        self._share = share
        self._memory = memory
        self._calibration: Calibration | None = None

    def fit(self, history: DemandHistory, horizon: int) -> None:
        """Calibrate, then learn.

        Raises:
            ValueError: The history is shorter than the forecaster's length and twice the horizon.
        """
        last = history.hours - horizon + 1
        unseen = min(round(history.hours - (last - self.length) * self._share), history.hours - horizon)
        if unseen < self.length + horizon:
            raise ValueError(f"expected at least {self.length + 2 * horizon} hours of demand, got {history.hours}")
        self.forecaster.fit(history.first_hours(unseen), horizon)
        self._calibration = None
        self.observe(history.windows(self.length, horizon, max(unseen, last - self._memory), last))
        self.forecaster.fit(history, horizon)

    def observe(self, windows: Windows) -> None:
        """Take note of what came, after forecasts of these windows; their futures are known.

        Raises:
            ValueError: They are not.
        """
        found = self.forecaster.forecast(windows)
        new = Calibration.from_forecasts(windows.future, found.mean, found.deviation, windows.made)
        self._calibration = new.after(self._calibration, self._memory)

    def forecast(self, windows: Windows) -> Forecast:
        """Forecast demand, with calibrated quantiles."""
        return replace(self.forecaster.forecast(windows), calibration=self._calibration)
