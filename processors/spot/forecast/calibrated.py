"""A forecaster whose quantiles are calibrated on what it has not seen, and stay so."""

from dataclasses import replace

from processors.spot.forecast.conformal import Calibration
from processors.spot.forecast.demand import DemandHistory, Windows
from processors.spot.forecast.forecast import Forecast, Forecaster


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
        self.forecaster.fit(history.until(unseen), horizon)
        self._calibration = None
        self.observe(history.windows(self.length, horizon, max(unseen, last - self._memory), last))
        self.forecaster.fit(history, horizon)

    def observe(self, windows: Windows) -> None:
        """Take note of what came, after forecasts of these windows; their futures are known.

        Raises:
            ValueError: They are not.
        """
        found = self.forecaster.forecast(windows)
        new = Calibration.of(windows.future, found.mean, found.deviation, windows.made)
        self._calibration = new.after(self._calibration, self._memory)

    def forecast(self, windows: Windows) -> Forecast:
        """Forecast demand, with calibrated quantiles."""
        return replace(self.forecaster.forecast(windows), calibration=self._calibration)
