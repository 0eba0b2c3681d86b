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
    model.fit(history.until(240), 4)
    windows = history.windows(model.length, 4, 240, 285)
    forecast = model.forecast(windows)
    as_before = np.abs(windows.past[:, -1:] - windows.future).mean()
    assert np.abs(forecast.mean - windows.future).mean() < 0.5 * as_before


def test_scores_by_hand() -> None:
    found = score([Forecast(np.array([[8.0, 0.0]]), np.array([[1.0, 1.0]]))], [np.array([[10.0, 0.5]])])
    assert (found.mae, found.mape) == (1.25, 0.2)  # half a GPU is left out of the latter
    assert found.rmse == pytest.approx(np.sqrt((4 + 0.25) / 2))
    assert found.covered_90 == 0.5  # 9.28 is below 10, 1.28 above 0.5
    # 2 x (0.9 x 4 + 0.1 x 2) over 20
    assert quantile_loss(np.array([[6.0, 12.0]]), np.array([[10.0, 10.0]]), 0.9) == pytest.approx(0.38)
