"""The forecasts that OrgLinear is compared with are what they say."""

from datetime import datetime

import numpy as np
import pytest

from benchmarks.forecast.deep_ar import DeepAr
from benchmarks.forecast.dlinear import DLinear
from benchmarks.forecast.scores import quantile_loss, score
from processors.spot.forecast import DemandHistory, Forecast


def daily(days: int = 12) -> DemandHistory:
    hours = np.arange(24 * days)
    demand = 40 + 20 * np.sin(2 * np.pi * hours / 24) + np.random.default_rng(3).normal(0, 1, (2, len(hours)))
    return DemandHistory(demand, datetime(2024, 1, 1), (("a",), ("b",)))


def test_deep_ar_gradients_are_those_of_the_loss() -> None:
    history = daily(2)
    model = DeepAr(length=6, hidden=3, steps=1)
    model.fit(history, 2)
    windows = history.windows(6, 2, 6, 20)
    series, seen = model.series(windows), model.covariates(windows)
    _, gradients = model.gradients(series, seen)
    random = np.random.default_rng(0)
    for name, weights in model.weights.items():
        for place in random.integers(0, weights.size, 5):
            kept, step = weights.flat[place], 1e-6
            weights.flat[place] = kept + step
            above, _ = model.gradients(series, seen)
            weights.flat[place] = kept - step
            below, _ = model.gradients(series, seen)
            weights.flat[place] = kept
            assert gradients[name].flat[place] == pytest.approx((above - below) / (2 * step), abs=1e-6), name


@pytest.mark.parametrize("model", [DLinear(length=48), DeepAr(length=12, hidden=12, steps=150)])
def test_days_are_learnt(model: DLinear | DeepAr) -> None:
    history = daily()
    model.fit(history.first_hours(240), 4)
    windows = history.windows(model.length, 4, 240, 285)
    forecast = model.forecast(windows)
    as_before = np.abs(windows.past[:, -1:] - windows.future).mean()
    assert np.abs(forecast.mean - windows.future).mean() < 0.5 * as_before


def test_dlinear_by_hand() -> None:
    # Demand is 0, 1, 0, 1, …, standardised -1, 1. Each of seven hours is the opposite of the one before: with a ridge of 1 on the weight w
    # and none on the intercept b, 8 w - b = -7 and -w + 7 b = 1, so that w = -48 / 55 and b = 1 / 55. After a 1 comes 0.5 + 0.5 (w + b).
    history = DemandHistory(np.array([[0.0, 1.0] * 4]), datetime(2024, 1, 1), (("a",),))
    model = DLinear(length=1, kernel=1, ridge=1.0)
    model.fit(history, 1)
    assert model.forecast(history.next_window(1, 1)).mean[0, 0] == pytest.approx(4 / 55)


def test_deep_ar_by_hand() -> None:
    # One cell whose gates are wide open, and which forgets: it remembers tanh(40) = 1 and shows tanh(1). So each hour has the mean
    # 2 tanh(1) - 1 and the deviation ln(1 + e^0.5) + 0.01, whatever came before.
    history = DemandHistory(np.array([[1.0, 3.0, 1.0, 3.0]]), datetime(2024, 1, 1), (("a",),))
    model = DeepAr(length=2, hidden=1, steps=0)
    model.fit(history, 1)
    model.weights["cells"][:] = 0
    model.weights["bias"][:] = [40, -40, 40, 40]
    model.weights["heads"][:] = [[2, 0]]
    model.weights["heads_bias"][:] = [-1, 0.5]
    windows = history.windows(2, 1, 2, 3)  # demand 1, 3, 1: standardised -1, 1, -1, of which the last two are told
    loss, _ = model.gradients(model.series(windows), model.covariates(windows))
    mean, deviation = 2 * np.tanh(1) - 1, np.log(1 + np.exp(0.5)) + 0.01
    assert loss == pytest.approx(np.log(deviation) + ((1 - mean) ** 2 + (-1 - mean) ** 2) / (4 * deviation**2))
    forecast = model.forecast(windows)
    assert forecast.mean[0, 0] == pytest.approx(2 + mean, abs=4 * deviation / np.sqrt(100))  # of 100 sampled futures


def test_scores_by_hand() -> None:
    found = score([Forecast(np.array([[8.0, 0.0]]), np.array([[1.0, 1.0]]))], [np.array([[10.0, 0.5]])])
    assert (found.mae, found.mape) == (1.25, 0.2)  # half a GPU is left out of the latter
    assert found.rmse == pytest.approx(np.sqrt((4 + 0.25) / 2))
    assert found.covered_90 == 0.5  # 9.28 is below 10, 1.28 above 0.5
    # 2 x (0.9 x 4 + 0.1 x 2) over 20
    assert quantile_loss(np.array([[6.0, 12.0]]), np.array([[10.0, 10.0]]), 0.9) == pytest.approx(0.38)
