from datetime import datetime

import numpy as np
import pytest

from processors.spot.forecast import DemandHistory
from processors.spot.forecast.baselines import Naive


def ramp(hours: int = 200) -> DemandHistory:
    return DemandHistory(np.arange(float(hours))[None], datetime(2024, 1, 1), (("a",),))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Naive("last_value", length=5), [199, 199]),
        (Naive("peak", length=5), [199, 199]),
        (Naive("seasonal"), [32, 33]),  # hours 200 and 201, a week before
        (Naive("seasonal", length=24), [176, 177]),
    ],
)
def test_rules(model: Naive, expected: list[float]) -> None:
    model.fit(ramp(), 2)
    assert model.forecast(ramp().next_window(model.length, 2)).mean.tolist() == [expected]


def test_a_season_shorter_than_the_horizon_repeats() -> None:
    history = ramp(100)
    model = Naive("seasonal", length=24)
    model.fit(history, 26)
    assert model.forecast(history.next_window(24, 26)).mean[0, [0, 23, 24, 25]].tolist() == [76, 99, 76, 77]


def test_deviations_are_past_errors() -> None:
    model = Naive("last_value", length=1)
    model.fit(ramp(), 2)
    assert model.forecast(ramp().next_window(1, 2)).deviation.tolist() == [[1, 2]]


def test_too_little_history_is_refused() -> None:
    with pytest.raises(ValueError, match="expected"):
        Naive("seasonal").fit(ramp(100), 2)
