import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.forecast.network import decompose, moving_average


def test_average_and_reflection_by_hand() -> None:
    # 1 2 6 is padded to 2 1 2 6 2: averages 5/3, 3, 10/3.
    assert moving_average(np.array([1.0, 2.0, 6.0]), 3) == pytest.approx([5 / 3, 3, 10 / 3])


@given(st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=40))
def test_trend_and_cycle_add_up(series: list[float]) -> None:
    trend, cycle = decompose(np.array([series]), 7)
    assert trend + cycle == pytest.approx(np.array([series]), abs=1e-6)


@given(st.floats(-1e6, 1e6))
def test_what_stands_still_has_no_cycle(level: float) -> None:
    trend, cycle = decompose(np.full(10, level), 5)
    assert trend == pytest.approx(np.full(10, level))
    assert cycle == pytest.approx(np.zeros(10), abs=1e-6)


@pytest.mark.parametrize(("hours", "kernel"), [(10, 4), (2, 5)])
def test_what_cannot_be_averaged_is_refused(hours: int, kernel: int) -> None:
    with pytest.raises(ValueError, match="expected an odd kernel"):
        moving_average(np.zeros(hours), kernel)
