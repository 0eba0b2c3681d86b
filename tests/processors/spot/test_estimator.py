from datetime import date, datetime

import numpy as np
import pytest

from processors.spot.estimator import DemandEstimator
from processors.spot.forecast import Calibrated, DemandHistory
from processors.spot.forecast.baselines import Naive
from processors.spot.settings import CLUSTER

START = datetime(2024, 1, 1)


def estimator() -> DemandEstimator:
    steps = [(24, lambda: Naive("seasonal", length=24)), (6, lambda: Naive("peak", length=2))]
    return DemandEstimator(START, [(hours, lambda make=make: Calibrated(make())) for hours, make in steps])


def demand(hours: int) -> dict[str, list[float]]:
    return {"a": [10.0 + hour % 24 for hour in range(hours)], "b": [5.0] * hours}


def test_what_cannot_be_forecast_stays_as_it_is() -> None:
    upper = estimator().forecast(demand(3), present=42, now=3 * 3600, p=0.9, horizon=2).upper
    assert upper.tolist() == [[42, 42]]
    assert estimator().forecast({}, present=0, now=0, p=0.9, horizon=1).upper.tolist() == [[0]]


def test_more_history_brings_a_better_forecast() -> None:
    few = estimator().forecast(demand(30), 0, 30 * 3600, 0.9, 2).upper
    # A day before hours 30 and 31, `a` wanted 16 and 17; its errors are 0 there, so only the smallest margin is added.
    assert few[0] == pytest.approx([16, 17], abs=5)
    assert few.sum(axis=1)[1] == pytest.approx(10, abs=10)


def test_any_horizon_is_served_whatever_is_known() -> None:
    for hours in range(40):
        for horizon in (1, 2, 4):
            forecast = estimator().forecast(demand(hours), 7, hours * 3600, 0.9, horizon)
            assert forecast.upper.shape[1] == len(forecast.total) == horizon
            assert np.isfinite(forecast.upper).all()
            assert np.isfinite(forecast.total).all()


def test_an_organisation_that_nothing_was_learnt_of_wants_its_peak() -> None:
    found = estimator()
    found.forecast(demand(60), 0, 60 * 3600, 0.9, 1)
    later = demand(61) | {"new": [0.0] * 60 + [70.0]}
    forecast = found.forecast(later, 0, 61 * 3600, 0.9, 1)
    assert forecast.upper[-1].tolist() == [70]
    assert forecast.median[-1].tolist() == [70]


def test_the_total_is_forecast_from_the_cluster_whose_peak_is_less_than_the_sum() -> None:
    of_organisations = {"a": [8.0, 1.0] * 30, "b": [1.0, 8.0] * 30}
    cluster = of_organisations | {CLUSTER: [9.0] * 60}
    summed, total = (estimator().forecast(each, 0, 60 * 3600, 0.9, 1).total[0] for each in (of_organisations, cluster))
    assert total == pytest.approx(9, abs=2)
    assert summed == pytest.approx(9, abs=2)
    apart = of_organisations | {CLUSTER: [7.0] * 60}
    assert estimator().forecast(apart, 0, 60 * 3600, 0.9, 1).total[0] == pytest.approx(7, abs=2)


def test_it_forecasts_once_an_hour() -> None:
    found = estimator()
    first = found.forecast(demand(30), 0, 30 * 3600, 0.9, 1).upper
    assert found.forecast({}, 0, 30 * 3600 + 300, 0.9, 1).upper is first


def test_demand_that_stands_still_is_forecast_with_little_to_spare() -> None:
    upper = DemandEstimator(START).forecast({"a": [8.0] * 40}, 0, 40 * 3600, 0.9, 1).upper
    assert np.all(upper >= 8)
    assert np.all(upper <= 10)


def test_forecasters_learn_with_the_calendar() -> None:
    told: list[DemandHistory] = []

    class Listening(Naive):
        def fit(self, history: DemandHistory, horizon: int) -> None:
            told.append(history)
            super().fit(history, horizon)

    steps = [(6, lambda: Listening("last_value", length=1))]
    found = DemandEstimator(datetime(2024, 1, 1, 8), steps, holidays=[date(2024, 1, 2)])
    found.forecast(demand(30), 0, 30 * 3600, 0.9, 1)
    history, of_cluster = told
    assert (len(history.demand), len(of_cluster.demand)) == (2, 1)
    calendar = history.windows(1, 1, 1, 30).calendar[:29]
    # Second 0 is eight in the morning of a Monday: the holiday begins sixteen hours later.
    assert calendar[:, 0].tolist() == [(8 + hour) % 24 for hour in range(1, 30)]
    assert calendar[:, 2].tolist() == [int(hour >= 16) for hour in range(1, 30)]
