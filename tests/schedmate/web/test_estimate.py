"""What the page says of an estimate."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schedmate.web.estimate import Expected, expected

TOLD = datetime(2026, 11, 1, 12, tzinfo=UTC)


def estimate(**fields: Any) -> dict[str, Any]:
    names = ("duration_s", "duration_low_s", "duration_high_s", "remaining_s", "remaining_low_s", "remaining_high_s")
    return dict.fromkeys(names) | {"time": TOLD} | fields


@pytest.mark.parametrize(
    ("fields", "after_s", "said"),
    [
        ({}, 0, None),
        (
            {"duration_s": 7200.0, "duration_low_s": 3600.0, "duration_high_s": 9000.0},
            60,
            Expected("Expected to take", "2 h (1 h to 2 h 30 min)"),
        ),
        (
            {
                "duration_s": 7200.0,
                "duration_low_s": 20.0,
                "duration_high_s": 32400.0,
                "modes": '[{"share":0.22,"low_s":3,"high_s":60},{"share":0.78,"low_s":18000,"high_s":32400}]',
            },
            60,
            Expected("Expected to take", "2 h (20 s to 9 h); 22 % end within 1 min; otherwise 5 h to 9 h"),
        ),
        (
            {"remaining_s": 7260.0, "remaining_low_s": 6660.0, "remaining_high_s": 7860.0},
            60,
            Expected("Time left", "2 h (1 h 50 min to 2 h 10 min)", TOLD + timedelta(seconds=7260)),
        ),
        (
            {"remaining_s": 60.0, "remaining_low_s": 50.0, "remaining_high_s": 90.0},
            70,
            Expected("Time left", "0 s (0 s to 20 s)"),
        ),
        (
            {"remaining_s": 60.0, "remaining_low_s": 50.0, "remaining_high_s": 90.0},
            390,
            Expected("Time left", "overdue for 5 min"),
        ),
        (
            {"remaining_s": 1e12, "remaining_low_s": 1e12, "remaining_high_s": 1e12},  # no calendar goes so far
            0,
            Expected("Time left", "11574074 d 1 h (11574074 d 1 h to 11574074 d 1 h)"),
        ),
        ({"remaining_s": 60.0, "remaining_low_s": 50.0}, 0, Expected("Time left", "1 min or more (of this loop)")),
    ],
)
def test_how_long_and_until_when(fields: dict[str, Any], after_s: float, said: Expected | None) -> None:
    assert expected(estimate(**fields), TOLD + timedelta(seconds=after_s)) == said
