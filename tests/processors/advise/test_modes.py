"""Modes of past durations."""

import pytest

from processors.advise.modes import FEWEST, duration_modes
from schedmate.advisor.remaining import modes_in_words
from schedmate_records import DurationMode


def rounded(durations: list[float], limit: float = 0.0) -> list[tuple[float, float, float]]:
    return [(round(each.share, 2), round(each.low_s), round(each.high_s)) for each in duration_modes(durations, limit)]


def test_jobs_that_fail_at_once_and_jobs_that_run_to_the_end_are_two_modes() -> None:
    assert rounded([20, 45, 18000, 20000, 25000, 30000, 31000, 32400, 22000]) == [(0.22, 20, 45), (0.78, 18000, 32400)]


def test_one_mode_is_none() -> None:
    assert rounded([100.0 + number for number in range(20)]) == []
    assert rounded([5.0] * 20) == []


def test_few_durations_have_no_modes() -> None:
    assert rounded([1, 1, 1, 9000, 9000, 9000, 9000][: FEWEST - 1]) == []


def test_an_outlier_joins_the_nearest_mode() -> None:
    assert rounded([10, 11, 12, 13, 14, 2000, 2100, 2200, 2300, 90000]) == [(0.5, 10, 14), (0.5, 2000, 90000)]
    assert rounded([1, 90, 95, 99, 9000, 9100, 9200, 9300]) == [(0.5, 1, 99), (0.5, 9000, 9300)]


def test_no_mode_exceeds_the_time_limit() -> None:
    assert rounded([10, 11, 12, 13, 9000, 9000, 90000, 90000], 3600.0) == [(0.5, 10, 13), (0.5, 3660, 3660)]


@pytest.mark.parametrize(
    ("modes", "words"),
    [
        ([], ""),
        ([DurationMode(0.22, 3, 60), DurationMode(0.78, 18000, 32400)], "22 % end within 1 min; otherwise 5 h to 9 h"),
        (
            [DurationMode(0.2, 3, 60), DurationMode(0.3, 300, 480), DurationMode(0.5, 7200, 7200)],
            "20 % end within 1 min, 30 % take 5 min to 8 min; otherwise 2 h",
        ),
    ],
)
def test_modes_in_words(modes: list[DurationMode], words: str) -> None:
    assert modes_in_words(modes) == words
