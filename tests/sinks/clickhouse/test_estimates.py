"""Which estimates are scored against the ends that came; every figure worked out by hand."""

import time
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from schedmate_records import ANSWERED, Estimate, JobEvent, Position, Record
from sinks.clickhouse.queries import run
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded

NOW = float(int(time.time()))
MINUTE = 60.0


def estimate(job: str, revision: int, ago: float, minutes: float | None, method: str, **fields: Any) -> Record:
    """`job` was told, `ago` minutes ago, to take so many minutes, give or take ten."""
    low, high = (None, None) if minutes is None else ((minutes - 10) * MINUTE, (minutes + 10) * MINUTE)
    return Estimate(
        id=f"{job}/{revision}", job=job, revision=revision, time=NOW - ago * MINUTE, method=method,
        duration_s=None if minutes is None else minutes * MINUTE, duration_low_s=low, duration_high_s=high, **fields,
    )  # fmt: skip


def took_an_hour(job: str) -> list[Record]:
    """It started 100 minutes ago."""
    made: dict[str, Any] = {"job": job, "scheduler": "slurm", "user": "ada", "partition": "long"}
    return [
        JobEvent(id=f"{job}/s", kind="started", time=NOW - 100 * MINUTE, **made),
        JobEvent(id=f"{job}/e", kind="ended", time=NOW - 40 * MINUTE, exit_code=0, state="COMPLETED", **made),
    ]


SAID: list[Record] = [
    # A model's answer came while "waits" waited, when "runs" ran, and took back what had been told of "other".
    *took_an_hour("waits"), estimate("waits", 0, 120, 90, "similar"), estimate("waits", ANSWERED, 110, 66, "similar"),
    *took_an_hour("runs"), estimate("runs", 0, 120, 30, "resubmission"), estimate("runs", ANSWERED, 90, 60, "similar"),
    *took_an_hour("other"), estimate("other", 0, 120, 90, "similar"), estimate("other", ANSWERED, 110, None, "unknown"),
    # Of 40 minutes that remained, four too many; of 20, two.
    estimate("runs", 2, 80, 64, "progress", done=0.3), estimate("runs", 3, 60, 62, "progress", done=0.6),
    # Some that were told before revision 1 had its meaning.
    *took_an_hour("older"), estimate("older", 1, 80, 64, "progress", done=0.4),
]  # fmt: skip


@pytest.fixture(scope="module")
def stored(embedded: Embedded) -> Client:
    writer = ClickHouseWriter(embedded.connect)
    writer.write([(Position("any", 0, at), record) for at, record in enumerate(SAID)])
    return embedded.client


def asked(client: Client, **given: str) -> list[dict[str, Any]]:
    answer = run(client, "estimates", given)
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def test_of_what_is_told_before_a_job_runs_the_last_is_scored_and_each_job_once(stored: Client) -> None:
    shown = ("method", "was_done", "estimates", "jobs", "median_error", "inside_interval")
    assert [tuple(row[name] for name in shown) for row in asked(stored)] == [
        ("progress", "25% to 50%", 2, 2, 0.1, 1.0),
        ("progress", "50% to 75%", 1, 1, 0.1, 1.0),
        ("resubmission", "not known", 1, 1, 0.5, 0.0),
        ("similar", "not known", 1, 1, 0.1, 1.0),
    ]
