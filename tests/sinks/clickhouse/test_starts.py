"""What waiting jobs were told of their starts, against the starts that came; every figure worked out by hand."""

import time
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from schedmate_records import JobEvent, Position, Record, StartEstimate
from sinks.clickhouse.queries import run
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded

NOW = float(int(time.time()))
MINUTE = 60.0


def estimate(job: str, ago: float, *said: float | None, attempt: int = 0) -> Record:
    """`job` was told, `ago` minutes ago, in how many minutes it would start: the middle, and both ends of the range."""
    expected_s, low_s, high_s = (None if each is None else each * MINUTE for each in said)
    return StartEstimate(
        id=f"start/{job}/{attempt}/{ago}", job=job, attempt=attempt, time=NOW - ago * MINUTE, expected_s=expected_s,
        low_s=low_s, high_s=high_s, chance=1.0 if high_s else 0.9, method="queue",
    )  # fmt: skip


def event(job: str, kind: str, ago: float, attempt: int = 0, scheduler: str = "slurm", **fields: Any) -> Record:
    made = {"user": "ada", "partition": "long", **fields}
    return JobEvent(
        id=f"{job}/{attempt}/{kind}/{scheduler}", job=job, attempt=attempt, kind=kind, time=NOW - ago * MINUTE, scheduler=scheduler, **made
    )  # fmt: skip


WEEK: list[Record] = [
    # in: told three times, within the range each time; the middle was 10 minutes early, right, and 4 late.
    estimate("in", 300, 90, 60, 180), estimate("in", 280, 80, 60, 180), estimate("in", 270, 74, 60, 180), event("in", "started", 200),
    # early: started half an hour before the range. late: two hours after it. Of late's second range the upper end is not known.
    estimate("early", 300, 120, 60, 180), event("early", "started", 270),
    estimate("late", 300, 60, 30, 120), estimate("late", 299, 59, 30, None), event("late", "started", 60, user="bob", partition="short"),
    # soon: three seconds later than was said: people read minutes.
    estimate("soon", 100, 0, 0, 0), event("soon", "started", 99.95),
    # waits: beyond its range already. young: within it. gone: was cancelled while it waited. never: nobody knows of it.
    estimate("waits", 200, 60, 30, 120), event("waits", "submitted", 210),
    estimate("young", 30, 60, 30, 120), event("young", "submitted", 40),
    estimate("gone", 200, 60, 30, 120), event("gone", "ended", 150, state="CANCELLED"),
    # again: its first attempt had started before; what is told of the second counts for the second. A pipe's word is none.
    event("again", "started", 500), event("again", "started", 40, 1), estimate("again", 60, 20, 10, 30, attempt=1),
    event("again", "started", 59, 1, scheduler="pipe"),
    # unsure: starts in fewer than half of the futures.
    estimate("unsure", 60, None, 10, None), event("unsure", "started", 30),
]  # fmt: skip


@pytest.fixture(scope="module")
def week(embedded: Embedded) -> Client:
    ClickHouseWriter(embedded.connect).write([(Position("any", 0, at), record) for at, record in enumerate(WEEK)])
    return embedded.client


def asked(client: Client, **given: str) -> dict[str, dict[str, Any]]:
    answer = run(client, "starts", given)
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    assert {row["method"] for row in rows} == {"queue"}
    return {row["expected_wait"]: row for row in rows}


def test_each_start_counts_once_by_how_long_the_wait_was_to_be(week: Client) -> None:
    rows = asked(week)
    assert list(rows) == ["below 10 minutes", "10 minutes to an hour", "1 to 6 hours", "not known"]
    shown = ("ranges", "starts", "inside_range", "before_range", "after_range", "still_waiting_beyond_range")
    assert [tuple(row[name] for name in shown) for row in rows.values()] == [
        (1, 1, 1.0, 0.0, 0.0, 0),
        (2, 2, 1.0, 0.0, 0.0, 0),  # again; late's second range says no end, so it is neither inside nor outside
        (6, 3, 0.333, 0.333, 0.333, 1),  # in, early, late; waits
        (1, 1, None, None, None, 0),
    ]


def test_how_late_the_middle_was(week: Client) -> None:
    assert [row["median_late_s"] for row in asked(week, job="in").values()] == [120.0]  # 10, 0 and -4 minutes
    assert [row["median_off_s"] for row in asked(week, job="in").values()] == [280.0]
    assert [row["median_late_s"] for row in asked(week, job="early").values()] == [-90 * MINUTE]
    assert asked(week, job="unsure")["not known"]["median_late_s"] is None


def test_one_user_and_one_partition(week: Client) -> None:
    assert asked(week, user="bob") == asked(week, partition="short") == asked(week, job="late")
    assert run(week, "starts", {"user": "nobody"}).rows == []
