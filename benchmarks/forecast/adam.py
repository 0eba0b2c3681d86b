"""Adam with decoupled weight decay (Kingma and Ba, ICLR 2015; Loshchilov and Hutter, ICLR 2019)."""

from collections.abc import Mapping

import numpy as np

from processors.spot.forecast.demand import Floats

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Adam:
    """Changes parameters in place.

    Args:
        parameters: By name.
        decay: How much of the distance to where they started parameters lose in a step of rate 1: what data does not move stays put.
    """

    def __init__(self, parameters: Mapping[str, Floats], decay: float = 0.0) -> None:
        self._parameters = parameters
        self._start = {name: value.copy() for name, value in parameters.items()}
        self._mean = {name: np.zeros_like(value) for name, value in parameters.items()}
        self._square = {name: np.zeros_like(value) for name, value in parameters.items()}
        self._decay = decay
        self._steps = 0

    def step(self, gradients: Mapping[str, Floats], rate: float) -> None:
        """Take one step of `rate` against the gradients."""
        self._steps += 1
        for name, gradient in gradients.items():
            mean, square, value = self._mean[name], self._square[name], self._parameters[name]
            mean += (1 - BETA1) * (gradient - mean)
            square += (1 - BETA2) * (gradient**2 - square)
            unbiased = mean / (1 - BETA1**self._steps)
            spread = np.sqrt(square / (1 - BETA2**self._steps)) + EPSILON
            value -= rate * (unbiased / spread + self._decay * (value - self._start[name]))
