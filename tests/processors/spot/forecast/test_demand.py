from datetime import date, datetime

import numpy as np
import pytest

from processors.spot.forecast import DemandHistory


def history() -> DemandHistory:
    demand = np.array([np.arange(30.0), np.arange(100.0, 130.0)])
    return DemandHistory(demand, datetime(2024, 5, 1, 22), (("a",), ("b",)), frozenset({date(2024, 5, 2)}))


def test_windows_look_back_and_ahead() -> None:
    windows = history().windows(3, 2, 3, 5)
    assert windows.past.tolist() == [[0, 1, 2], [1, 2, 3], [100, 101, 102], [101, 102, 103]]
    assert windows.future.tolist() == [[3, 4], [4, 5], [103, 104], [104, 105]]
    assert windows.organisation.tolist() == [0, 0, 1, 1]
    assert windows.made.tolist() == [3, 4, 3, 4]


def test_the_calendar_is_that_of_the_first_hour_forecast() -> None:
    # Hour 0 is Wednesday 1 May 22:00; hours 2 to 25 are the holiday of the 2nd, hour 26 is Friday 0:00.
    windows = history().windows(1, 1, 1, 27)
    assert windows.calendar[[0, 1, 25]].tolist() == [[23, 2, 0], [0, 3, 1], [0, 4, 0]]


def test_the_next_window_has_no_future_yet() -> None:
    window = history().next_window(2, 3)
    assert window.past.tolist() == [[28, 29], [128, 129]]
    assert np.isnan(window.future).all()
    assert window.future.shape == (2, 3)


def test_what_is_not_known_is_not_looked_at() -> None:
    known, all_of_it = history().first_hours(20), history()
    assert known.next_window(4, 2).past.tolist() == all_of_it.windows(4, 2, 20, 21).past.tolist()


@pytest.mark.parametrize(("first", "last"), [(2, 5), (5, 33)])
def test_windows_beyond_what_is_known_are_refused(first: int, last: int) -> None:
    with pytest.raises(ValueError, match="expected hours between 3 and 31"):
        history().windows(3, 2, first, last)


def test_shapes_that_do_not_agree_are_refused() -> None:
    with pytest.raises(ValueError, match="attributes of each"):
        DemandHistory(np.zeros((2, 3)), datetime(2024, 1, 1), (("a",),))
    with pytest.raises(ValueError, match="as many attributes"):
        DemandHistory(np.zeros((2, 3)), datetime(2024, 1, 1), (("a",), ("b", "c")))
    with pytest.raises(ValueError, match="finite"):
        DemandHistory(np.array([[np.nan]]), datetime(2024, 1, 1), (("a",),))
