from datetime import datetime

import numpy as np
import pytest

from processors.spot.forecast import Calibrated, DemandHistory, Forecast
from processors.spot.forecast.baselines import Naive
from processors.spot.forecast.forecast import Calibration

START = datetime(2024, 1, 1)


def leaping(organisations: int = 3, hours: int = 2400) -> DemandHistory:
    """Demand that leaps now and then: nothing that is normal."""
    random = np.random.default_rng(4)
    demand = 10 + random.lognormal(0, 2, (organisations, hours))
    return DemandHistory(demand, START, tuple((str(each),) for each in range(organisations)))


def test_the_margin_is_a_score_of_the_right_rank() -> None:
    scores = np.arange(1.0, 10.0)[:, None]
    calibration = Calibration(scores, np.zeros(9, dtype=np.int64))
    assert calibration.margin(0.5).tolist() == [5]  # ceil(10 x 0.5)
    assert calibration.margin(0.85).tolist() == [9]
    assert calibration.margin(0.99).tolist() == [9]  # nine scores cannot tell


def test_quantiles_of_a_calibrated_forecast() -> None:
    calibration = Calibration(np.array([[1.0], [3.0]]), np.zeros(2, dtype=np.int64))
    forecast = Forecast(np.array([[10.0]]), np.array([[2.0]]), calibration)
    assert forecast.quantile(0.6).tolist() == [[16]]
    with pytest.raises(ValueError, match="between 0 and 1"):
        forecast.quantile(1.0)


def test_quantiles_of_the_normal_distribution_are_never_negative() -> None:
    forecast = Forecast(np.array([[10.0, 1.0]]), np.array([[2.0, 5.0]]))
    assert forecast.quantile(0.9) == pytest.approx(np.array([[10 + 2 * 1.2816, 1 + 5 * 1.2816]]), abs=1e-3)
    assert forecast.quantile(0.05)[0, 1] == 0


def test_old_errors_are_forgotten() -> None:
    old = Calibration(np.array([[9.0], [8.0]]), np.array([10, 20]))
    new = Calibration(np.array([[1.0]]), np.array([29]))
    assert sorted(new.after(old, 10).scores.ravel()) == [1, 8]


@pytest.mark.parametrize("p", [0.8, 0.9, 0.95])
def test_quantiles_hold_where_demand_is_not_normal(p: float) -> None:
    history = leaping()
    model = Calibrated(Naive("last_value", length=1), memory=500)
    model.fit(history.first_hours(1600), 1)
    windows = history.windows(1, 1, 1600, 2400)
    covered = (windows.future <= model.forecast(windows).quantile(p)).mean()
    assert covered == pytest.approx(p, abs=0.045)


def test_too_little_to_calibrate_on_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 32 hours"):
        Calibrated(Naive("peak", length=24)).fit(leaping().first_hours(26), 4)
