"""What the command measures and writes, of demand that repeats every day."""

import csv
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from benchmarks.forecast.__main__ import COLUMNS, measure, save
from processors.spot.forecast import Calibrated, DemandHistory
from processors.spot.forecast.baselines import Naive

pytest.importorskip("matplotlib")

HOURS = 24 * 20


@pytest.fixture
def history() -> DemandHistory:
    day = 10.0 + np.arange(HOURS) % 24
    return DemandHistory(np.array([day, 2 * day]), datetime(2024, 1, 1), (("a",), ("b",)))


def test_a_season_is_forecast_exactly_and_the_last_value_is_not(history: DemandHistory) -> None:
    exact, _ = measure(Naive("seasonal"), history, HOURS * 3 // 4, 4)
    assert (exact.mae, exact.mape, exact.maqe_90) == (0, 0, pytest.approx(0, abs=0.01))
    late, seconds = measure(Calibrated(Naive("last_value", length=1)), history, HOURS * 3 // 4, 4)
    assert late.mae > 1
    assert late.mape > 0
    assert seconds > 0


def test_the_figures_are_kept_as_a_table_and_as_bars(tmp_path: Path) -> None:
    found = {("x", "one"): ["1"] * (len(COLUMNS) - 1), ("y", "one"): ["2"] * (len(COLUMNS) - 1)}
    save(tmp_path, found)
    rows = list(csv.DictReader((tmp_path / "forecast.csv").open(encoding="utf-8")))
    assert [(row["trace"], row["model"], row["MAPE %"], row[COLUMNS[-1]]) for row in rows] == [
        ("x", "one", "1", "1"),
        ("y", "one", "2", "2"),
    ]
    assert (tmp_path / "forecast.png").read_bytes().startswith(b"\x89PNG")
