"""What the page says of a start."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from schedmate.web.start import starts

from .test_pages import Elements, data, get

TOLD = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("told", "after_s", "said"),
    [
        ((7260.0, 3660.0, 10860.0), 60, "in 2 h (1 h to 3 h)"),
        ((7260.0, 3660.0, None), 60, "in 2 h (1 h or more)"),
        ((60.0, 50.0, 90.0), 70, "in 0 s (0 s to 20 s)"),
        ((60.0, 50.0, 90.0), 390, "overdue for 5 min"),
        ((None, 50.0, None), 0, ""),
    ],
)
def test_in_how_long(told: tuple[float | None, ...], after_s: float, said: str) -> None:
    row = {"time": TOLD, **dict(zip(("expected_s", "low_s", "high_s"), told, strict=True))}
    assert starts(row, TOLD + timedelta(seconds=after_s)) == said


def test_the_page_of_a_waiting_job_says_what_was_told_last(page: str) -> None:
    said = " ".join(Elements(get(page, "/job?id=later")[2]).text.split())
    assert re.search(r"Expected to start\s*in \d+ (h|min)", said)
    known = data(page, "/job.json?id=later")["start"]
    assert (known["expected_s"], known["high_s"], known["method"]) == (7200.0, 9000.0, "queue")
    assert data(page, "/job.json?id=steady")["start"] is None
