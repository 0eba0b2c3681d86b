"""How often the guarantee was broken."""

import pytest

from processors.spot.kept_hours import eviction_rate, merge_spans

HOUR = 3600.0


@pytest.mark.parametrize(
    ("spans", "evictions", "expected"),
    [
        ([], 0, 0),
        ([], 2, 1),
        ([(0, 3 * HOUR)], 1, 1 / 4),  # three hours were kept
        ([(0, 0.9 * HOUR), (0, 1.9 * HOUR)], 1, 1 / 2),  # a period that did not end does not count
        ([(-10.5 * HOUR, 0.6 * HOUR)], 1, 1 / 2),  # of the eleven hours one ended after second 0
        ([(-9 * HOUR, -HOUR)], 1, 1),
    ],
)
def test_each_guaranteed_hour_that_was_kept_counts(
    spans: list[tuple[float, float]], evictions: int, expected: float
) -> None:
    assert eviction_rate(spans, evictions, 0, HOUR) == pytest.approx(expected)


def test_runs_are_remembered_until_they_are_older_than_the_window() -> None:
    spans = merge_spans({}, {"a": 0, "b": 5}, 10, since=0)
    assert spans == {"a": (0, 10), "b": (5, 10)}
    assert merge_spans(spans, {"b": 5}, 20, since=9) == {"a": (0, 10), "b": (5, 20)}
    assert merge_spans(spans, {"b": 5}, 20, since=10) == {"b": (5, 20)}
