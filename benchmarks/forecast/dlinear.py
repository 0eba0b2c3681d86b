"""DLinear: two linear layers over trend and cycle, by least squares (Zeng et al., AAAI 2023)."""

import numpy as np

from processors.spot.forecast import DemandHistory, Forecast, Windows
from processors.spot.forecast.demand import Floats

from .network import decompose


class DLinear:
    """One pair of layers for all organisations, as in the paper, on demand standardised by organisation.

    Both layers are linear in what they see, so least squares with a little ridge finds the optimum that the paper trains towards.
    The deviation, which DLinear has not, is that of its errors on the history, by organisation and hour ahead.
    """

    name = "dlinear"

    def __init__(self, length: int = 72, kernel: int = 25, ridge: float = 1.0) -> None:
        self.length = length
        self.kernel = kernel
        self.ridge = ridge

    def fit(self, history: DemandHistory, horizon: int) -> None:
        self._centre, self._scale = history.demand.mean(axis=1), np.maximum(history.demand.std(axis=1), 0.5)
        windows = history.windows(self.length, horizon, self.length, history.hours - horizon + 1)
        centre, scale = self._centre[windows.organisation][:, None], self._scale[windows.organisation][:, None]
        seen, future = self._inputs(windows), (windows.future - centre) / scale
        normal = seen.T @ seen
        normal[np.diag_indices(len(normal) - 1)] += self.ridge
        self._weights = np.linalg.solve(normal, seen.T @ future)
        errors = (future - seen @ self._weights).reshape(len(history.demand), -1, horizon)
        self._deviation = np.maximum(np.sqrt((errors**2).mean(axis=1)), 1e-3)

    def forecast(self, windows: Windows) -> Forecast:
        centre, scale = self._centre[windows.organisation][:, None], self._scale[windows.organisation][:, None]
        mean = self._inputs(windows) @ self._weights
        return Forecast(centre + scale * mean, scale * self._deviation[windows.organisation])

    def _inputs(self, windows: Windows) -> Floats:
        past = (windows.past - self._centre[windows.organisation][:, None]) / self._scale[windows.organisation][:, None]
        return np.concatenate([*decompose(past, self.kernel), np.ones((len(past), 1))], axis=1)
