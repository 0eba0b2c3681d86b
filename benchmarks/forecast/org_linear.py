"""OrgLinear: linear heads over trend, cycle and context, with a deviation (GFS, section 3.2)."""

import numpy as np

from processors.spot.forecast.demand import DemandHistory, Floats, Windows
from processors.spot.forecast.forecast import Forecast

from .adam import Adam
from .network import DEFAULTS, Inputs, Network, OrgLinearSettings, encode

SMALLEST_SCALE = 0.5
"""GPUs."""


class OrgLinear:
    """Forecasts all organisations with one set of weights.

    As printed, the paper has slips; this is what is done:

    - Eq. 4 mixes concatenation and a list: see `attend`.
    - Eq. 5 gives one calendar vector for all hours ahead; it is that of the first hour forecast.
    - Eq. 7 names a variance and computes a standard deviation: it is the standard deviation.
    - Eq. 8 lacks the -log(deviation) of a normal density, without which the deviation would grow without bound.

    Demand is standardised by organisation. Weights start at "as in the last hour", and what data does not move stays there.
    """

    name = "org_linear"

    def __init__(self, settings: OrgLinearSettings = DEFAULTS) -> None:
        self.settings = settings
        self.length = settings.length
        self._scaling: tuple[Floats, Floats] = (np.zeros(0), np.ones(0))
        self._network: Network | None = None

    def fit(self, history: DemandHistory, horizon: int) -> None:
        """Learn from a history.

        Args:
            history: At least `length` + `horizon` hours.
            horizon: Hours to forecast (H).

        Raises:
            ValueError: It is too short.
        """
        last = history.hours - horizon + 1
        if last <= self.length:
            raise ValueError(f"expected at least {self.length + horizon} hours of demand, got {history.hours}")
        self._learn(history, horizon)

    def forecast(self, windows: Windows) -> Forecast:
        """Forecast demand. Organisations are those of the history learnt from.

        Raises:
            ValueError: Nothing was learnt yet.
        """
        if self._network is None:
            raise ValueError("expected a model that has learnt: call fit first")
        centre, scale = (each[windows.organisation][:, None] for each in self._scaling)
        mean, deviation = self._network.outputs(Inputs((windows.past - centre) / scale, windows, self.settings.kernel))
        return Forecast(centre + scale * mean, scale * deviation)

    def _learn(self, history: DemandHistory, horizon: int) -> None:
        settings = self.settings
        generator = np.random.default_rng(settings.seed)
        self._scaling = history.demand.mean(axis=1), np.maximum(history.demand.std(axis=1), SMALLEST_SCALE)
        self._network = Network(settings, horizon, encode(history.attributes), generator)
        windows = history.windows(self.length, horizon, self.length, history.hours - horizon + 1)
        centre, scale = (each[windows.organisation][:, None] for each in self._scaling)
        inputs = Inputs((windows.past - centre) / scale, windows, settings.kernel)
        future = (windows.future - centre) / scale
        adam = Adam(self._network.weights, settings.decay)
        steps = settings.epochs * -(-len(windows) // settings.batch)
        step = 0
        for _ in range(settings.epochs):
            order = generator.permutation(len(windows))
            for start in range(0, len(order), settings.batch):
                batch = order[start : start + settings.batch]
                _, gradients = self._network.loss(inputs.take(batch), future[batch])
                adam.step(gradients, settings.rate * (1 + np.cos(np.pi * step / steps)) / 2)
                step += 1
