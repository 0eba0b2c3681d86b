from datetime import date, datetime

import numpy as np
import pytest

from processors.spot.forecast import DemandHistory
from processors.spot.forecast.baselines import Naive
from processors.spot.forecast.boosted_trees import BoostedTrees


def daily(days: int = 20) -> DemandHistory:
    """Return two organisations with opposite days, and noise."""
    hours = np.arange(24 * days)
    day = 20 * np.sin(2 * np.pi * hours / 24)
    noise = np.random.default_rng(1).normal(0, 2, (2, len(hours)))
    demand = np.stack([40 + day, 40 - day]) + noise
    return DemandHistory(demand, datetime(2024, 1, 1), (("a",), ("b",)), frozenset({date(2024, 1, 6)}))


def test_days_are_learned_that_the_last_value_does_not_show() -> None:
    history = daily()
    first, last = 24 * 15, 24 * 20 - 3
    errors = {}
    for model in (BoostedTrees(), Naive("last_value", length=72)):
        model.fit(history.first_hours(first), 4)
        windows = history.windows(72, 4, first, last)
        errors[type(model)] = np.abs(model.forecast(windows).mean - windows.future).mean()
    assert errors[BoostedTrees] < 0.5 * errors[Naive]


def test_upper_quantile_covers_nine_of_ten_hours() -> None:
    history = daily(40)
    model = BoostedTrees()
    model.fit(history.first_hours(24 * 30), 4)
    windows = history.windows(72, 4, 24 * 30, 24 * 40 - 3)
    assert 0.8 < (windows.future <= model.forecast(windows).quantile(0.9)).mean() < 0.98


def test_forecasts_of_the_same_history_are_equal() -> None:
    history = daily(6)
    means = []
    for _ in range(2):
        model = BoostedTrees()
        model.fit(history, 2)
        means.append(model.forecast(history.next_window(72, 2)).mean)
    assert (means[0] == means[1]).all()


def test_constant_demand_stays() -> None:
    history = DemandHistory(np.full((1, 100), 8.0), datetime(2024, 1, 1), (("a",),))
    model = BoostedTrees()
    model.fit(history, 2)
    assert model.forecast(history.next_window(72, 2)).mean == pytest.approx(np.full((1, 2), 8.0))


def test_deviation_is_at_least_a_twentieth_of_the_deviation_of_demand() -> None:
    # Demand is constant but for a jump once a day, of which the trees learn the hour; a jump in another hour is far from both quantiles.
    demand = np.where(np.arange(24 * 20) % 24 == 9, 100.0, 50.0)
    demand[-20] = 100.0
    history = DemandHistory(demand[None], datetime(2024, 1, 1), (("x",),))
    trees = BoostedTrees()
    trees.fit(history.first_hours(24 * 18), 1)
    found = trees.forecast(history.windows(trees.length, 1, 24 * 18, 24 * 20))
    assert found.deviation.min() >= 0.05 * demand[: 24 * 18].std()


def test_too_little_history_is_refused() -> None:
    with pytest.raises(ValueError, match="expected at least 76 hours"):
        BoostedTrees().fit(daily(4).first_hours(75), 4)
    with pytest.raises(ValueError, match="call fit first"):
        BoostedTrees().forecast(daily(4).next_window(72, 4))
