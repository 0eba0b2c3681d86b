"""What remains, in words."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from processors.job import JobProcessor
from schedmate.advisor.remaining import ends, long, remains, remains_of
from schedmate.analysis.watch_log import watch
from schedmate_records import LogChunk
from sinks.redis.status import JobStatus


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0 s"),
        (0.4, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (7870, "2 h 11 min"),
        (90_061, "1 d 1 h"),
        (86_400, "1 d"),
        (3601, "1 h"),
    ],
)
def test_a_duration_in_its_two_largest_units(seconds: float, said: str) -> None:
    assert long(seconds) == said


def test_what_remains_with_its_interval_or_without_an_upper_end() -> None:
    assert remains(7200, 6600, 8400) == "2 h (1 h 50 min to 2 h 20 min)"
    assert remains(7200, 6600, None) == "2 h or more (of this loop)"


def test_the_end_names_the_day_only_where_it_is_another_one() -> None:
    now = datetime(2026, 11, 23, 12, tzinfo=UTC)
    assert len(ends(now, now)) == 5
    assert len(ends(datetime(2026, 12, 1, tzinfo=UTC), now)) == 16


def status(**fields: object) -> JobStatus:
    told = {"estimate_time": 1000.0, "estimate_remaining_s": 600.0, "estimate_remaining_low_s": 500.0, "estimate_remaining_high_s": 700.0,
            "estimate_attempt": 0}  # fmt: skip
    return JobStatus(job="7", **(told | fields))  # type: ignore[arg-type]


def test_what_remains_falls_while_time_passes_until_it_is_overdue() -> None:
    assert remains_of(status(), 1000.0).startswith("10 min (8 min 20 s to 11 min 40 s), until about ")
    assert remains_of(status(), 1300.0).startswith("5 min (3 min 20 s to 6 min 40 s)")
    assert remains_of(status(), 1760.0) == "overdue for 1 min"


def test_nothing_remains_of_a_job_that_ended_or_began_anew() -> None:
    assert remains_of(status(ended=1100.0), 1200.0) == ""
    assert remains_of(status(attempt=1), 1200.0) == ""
    assert remains_of(status(estimate_remaining_s=None), 1200.0) == ""


def test_watch_tells_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def chunks(_: Path, __: object) -> Iterator[LogChunk]:
        for number in range(40):
            yield LogChunk(job="log", producer="p", seq=number, first_line=number + 1, first_piece=number + 1, time=1000.0 + 60 * number,
                lines=[f"step {10 * number}/1000 loss {2 - number / 100:.3f}"])  # fmt: skip

    monkeypatch.setattr("schedmate.analysis.watch_log.follow_chunks", chunks)
    said = [line for line in watch(Path("train.log"), JobProcessor(), 0.0, lambda: False) if " left" in line]
    assert "step 390" in said[-1]
    assert re.search(r" 1 h( [1-3] min)? \(\d+ min( \d+ s)? to 1 h \d+ min\) left$", said[-1]), said[-1]
