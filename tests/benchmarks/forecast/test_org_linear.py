from datetime import date, datetime

import numpy as np
import pytest

from benchmarks.forecast.network import OrgLinearSettings
from benchmarks.forecast.org_linear import OrgLinear
from processors.spot.forecast import DemandHistory
from processors.spot.forecast.baselines import Naive

START = datetime(2024, 1, 1)
SMALL = OrgLinearSettings(length=30, kernel=7, width=3, epochs=8)


def daily(days: int = 20) -> DemandHistory:
    """Two organisations with opposite days, and noise."""
    hours = np.arange(24 * days)
    day = 20 * np.sin(2 * np.pi * hours / 24)
    noise = np.random.default_rng(1).normal(0, 2, (2, len(hours)))
    return DemandHistory(
        np.stack([40 + day, 40 - day]) + noise, START, (("a", "A100"), ("b", "A100")), frozenset({date(2024, 1, 6)})
    )


def test_it_starts_at_the_last_hour() -> None:
    history = daily(4)
    model = OrgLinear(OrgLinearSettings(length=30, kernel=7, epochs=0))
    model.fit(history, 2)
    window = history.next_window(30, 2)
    # Trend and cycle of the last hour add up to it; the embeddings' weights are 0 yet.
    assert model.forecast(window).mean == pytest.approx(np.repeat(window.past[:, -1:], 2, axis=1))


def test_it_learns_days_that_last_values_do_not_show() -> None:
    history = daily()
    first, last = 24 * 15, 24 * 20 - 3
    errors = {}
    for model in (OrgLinear(SMALL), Naive("last_value", length=30)):
        model.fit(history.first_hours(first), 4)
        windows = history.windows(30, 4, first, last)
        errors[type(model)] = np.abs(model.forecast(windows).mean - windows.future).mean()
    assert errors[OrgLinear] < 0.5 * errors[Naive]
    assert errors[OrgLinear] < 3.5  # noise alone has a mean of 1.6


def test_it_is_the_same_every_time() -> None:
    history = daily(6)
    means = []
    for _ in range(2):
        model = OrgLinear(SMALL)
        model.fit(history, 2)
        means.append(model.forecast(history.next_window(30, 2)).mean)
    assert (means[0] == means[1]).all()


def test_too_little_history_is_refused() -> None:
    with pytest.raises(ValueError, match="expected at least 34 hours"):
        OrgLinear(SMALL).fit(daily(4).first_hours(33), 4)
    with pytest.raises(ValueError, match="call fit first"):
        OrgLinear(SMALL).forecast(daily(4).next_window(30, 4))
