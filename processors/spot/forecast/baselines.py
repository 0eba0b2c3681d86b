"""Simple forecasts: the baselines of the benchmark, and the forecast while there is too little history for a model."""

from typing import Literal

import numpy as np

from .demand import DemandHistory, Floats, Windows
from .forecast import Forecast

DAY = 24
"""Hours of a day: the demand is hourly."""
WEEK = 7 * DAY


class Naive:
    """Demand repeats.

    Args:
        rule: `last_value`: it stays as in the last hour. `seasonal`: it is as a week before, or a day before where `length` is below a
            week. `peak`: it is at its peak of the past `length` hours (a week's is GFS-e of GFS, Table 8: what the authors' cluster used).
        length: Hours looked back on; at least a day for `seasonal`.

    The deviation of `last_value` and `seasonal` is that of their errors on the history, by organisation and hour ahead; a peak has none.
    """

    def __init__(self, rule: Literal["last_value", "seasonal", "peak"], length: int = WEEK) -> None:
        if rule == "seasonal" and length < DAY:
            raise ValueError(f"expected at least {DAY} hours, got {length}")
        self.rule = rule
        self.name: str = rule
        self.length = length
        self._deviation: Floats = np.zeros((0, 0))

    def fit(self, history: DemandHistory, horizon: int) -> None:
        """Measure its errors on a history.

        Raises:
            ValueError: It is too short.
        """
        windows = history.windows(self.length, horizon, self.length, history.hours - horizon + 1)
        if not len(windows):
            raise ValueError(f"expected at least {self.length + horizon} hours of demand, got {history.hours}")
        errors = (windows.future - self._mean(windows)).reshape(len(history.demand), -1, horizon)
        spread = 0.0 if self.rule == "peak" else np.sqrt((errors**2).mean(axis=1))
        # Half a GPU at least: demand that was constant in the whole history may still change.
        self._deviation = np.maximum(spread, np.full((len(history.demand), horizon), 0.5))

    def forecast(self, windows: Windows) -> Forecast:
        """Forecast demand."""
        return Forecast(self._mean(windows), self._deviation[windows.organisation])

    def _mean(self, windows: Windows) -> Floats:
        horizon = windows.future.shape[1]
        if self.rule == "last_value":
            return np.repeat(windows.past[:, -1:], horizon, axis=1)
        if self.rule == "peak":
            return np.repeat(windows.past.max(axis=1, keepdims=True), horizon, axis=1)
        period = WEEK if self.length >= WEEK else DAY
        return windows.past[:, [ahead % period - period for ahead in range(horizon)]]
