"""The network's loss and its gradients."""

import numpy as np
import pytest

from benchmarks.forecast.network import Inputs, Network, encode

from .test_org_linear import SMALL, daily


def test_gradients_are_those_of_the_loss() -> None:
    history = daily(4)
    generator = np.random.default_rng(0)
    network = Network(SMALL, 2, encode(history.attributes), generator)
    for name in network.weights:
        network.weights[name] += generator.normal(0, 0.2, network.weights[name].shape)
    windows = history.windows(30, 2, 30, 90)
    inputs, future = Inputs(windows.past / 40 - 1, windows, SMALL.kernel), windows.future / 40 - 1
    _, gradients = network.loss(inputs, future)
    assert set(gradients) == set(network.weights)
    for name, weights in network.weights.items():
        for place in generator.integers(0, weights.size, 4):
            kept, step = weights.flat[place], 1e-6
            weights.flat[place] = kept + step
            above, _ = network.loss(inputs, future)
            weights.flat[place] = kept - step
            below, _ = network.loss(inputs, future)
            weights.flat[place] = kept
            assert gradients[name].flat[place] == pytest.approx((above - below) / (2 * step), abs=1e-5), name


def test_the_loss_is_a_normal_density() -> None:
    history = daily(4)
    network = Network(SMALL, 1, encode(history.attributes), np.random.default_rng(0))
    windows = history.windows(30, 1, 30, 31)
    inputs = Inputs(windows.past, windows, SMALL.kernel)
    mean, deviation = network.outputs(inputs)
    loss, _ = network.loss(inputs, mean + 2 * deviation)
    assert loss == pytest.approx(float(np.log(deviation).mean()) + 2)
