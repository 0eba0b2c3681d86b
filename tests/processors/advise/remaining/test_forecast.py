"""The arithmetic of what remains."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.advise.remaining.forecast import LEAST, ProgressMark, forecast


def marks(*gaps: float, units: float = 10.0, rest: float = 100.0) -> list[ProgressMark]:
    times = list(accumulate(gaps, initial=1000.0))
    return [ProgressMark(time, rest + units * (len(times) - 1 - place)) for place, time in enumerate(times)]


def test_a_steady_pace_is_carried_on_within_a_narrow_interval() -> None:
    found = forecast(marks(*[5.0] * 20))
    assert found is not None
    assert found.remaining_s == pytest.approx(50.0)
    assert found.high_s is not None
    assert 47 < found.low_s < 50 < found.high_s < 53


def test_the_first_mark_holds_the_start_and_counts_for_nothing() -> None:
    slow, steady = forecast(marks(600.0, *[5.0] * 20)), forecast(marks(5.0, *[5.0] * 20))
    assert slow is not None
    assert steady is not None
    assert (slow.remaining_s, slow.low_s) == pytest.approx((steady.remaining_s, steady.low_s))


def test_a_job_that_is_slowed_is_followed_and_the_interval_spans_both_paces() -> None:
    found = forecast(marks(*[5.0] * 10, *[10.0] * 10))
    assert found is not None
    assert found.remaining_s == pytest.approx(100.0, rel=0.1)
    assert found.high_s is not None
    assert found.low_s < 75 < found.remaining_s < found.high_s


def test_pauses_between_epochs_count_as_they_came() -> None:
    found = forecast(marks(*[5.0, 5.0, 5.0, 5.0, 25.0] * 6))
    steady = forecast(marks(*[9.0] * 30))
    assert found is not None
    assert steady is not None
    assert found.high_s is not None
    assert steady.high_s is not None
    assert found.remaining_s == pytest.approx(steady.remaining_s, rel=0.1)
    assert found.high_s - found.low_s > 2 * (steady.high_s - steady.low_s)


def test_of_a_loop_that_may_be_one_of_several_no_upper_end_is_told() -> None:
    found = forecast(marks(*[5.0] * 20), open_ended=True)
    assert found is not None
    assert found.high_s is None
    assert found.low_s > 0


@given(
    st.lists(st.tuples(st.floats(1e-3, 1e6), st.floats(1e-3, 1e6)), max_size=70),
    st.floats(0, 1e9),
    st.floats(0, 10),
    st.floats(0, 10),
)
def test_whatever_the_marks_the_interval_holds_the_estimate(
    parts: list[tuple[float, float]], rest: float, fewer: float, more: float
) -> None:
    seen = [ProgressMark(0.0, rest)]
    for seconds, units in reversed(parts):
        seen.insert(0, ProgressMark(seen[0].time - seconds, seen[0].rest + units))
    found = forecast(seen, fewer, more) if all(a.rest > b.rest for a, b in pairwise(seen)) else None
    if len(seen) < LEAST:
        assert found is None
    elif found is not None:
        assert found.high_s is not None
        assert 0 <= found.low_s <= found.remaining_s * (1 + 1e-9)
        assert found.remaining_s <= found.high_s * (1 + 1e-9)


def test_a_pace_that_no_number_holds_leaves_the_upper_end_open() -> None:
    found = forecast([ProgressMark(float(at), rest) for at, rest in enumerate((2e300, 1e300, 1.0, 0.5, 0.25))])
    assert found is not None
    assert found.high_s is None
