"""What Redis says of jobs stands on the page, and what the database holds where Redis is away."""

import json
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from schedmate.job_state import StateWord
from schedmate.web.estimate import expected
from schedmate.web.now import lay_over, newer_estimate
from schedmate_records import DurationMode, Estimate, JobEvent, JobMetric, Position, Record
from sinks.redis.connect import open_redis
from sinks.redis.read_state import read_states
from sinks.redis.state import RedisState
from sinks.redis.status import JobStatus
from tests.servers.redis import RedisServer
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded
from tests.sinks.redis.store import on_the_wire
from tests.waiting import until

from .history import Clock, event, records, write

PATIENCE_S = 30.0
CHANGED = datetime(2026, 11, 1, 12, tzinfo=UTC)
ROW = {
    "job": "7",
    "attempt": 1,
    "condition": StateWord.RUNNING,
    "changed": CHANGED,
    "step": 10,
    "started": CHANGED,
    "ended": None,
    "alarms": ["hang"],
}


def status(**fields: Any) -> JobStatus:
    return JobStatus(job="7", **({"attempt": 1, "state": "running", "state_time": CHANGED.timestamp()} | fields))


@pytest.mark.parametrize(
    ("told", "condition"),
    [
        ({"state": "requeued"}, "queued"),
        ({"state": "ended"}, "ended, outcome unknown"),
        ({"state": "ended", "exit_code": 0}, "completed"),
        ({"state": "ended", "exit_code": 3}, "failed"),
        ({"state": "ended", "signal": 9}, "failed"),
        ({"state": "ended", "scheduler_state": "CANCELLED by 1000", "signal": 15}, "cancelled"),
        ({"state": "ended", "scheduler_state": "TIMEOUT"}, "time limit"),
        ({"alarms": {"hang": "no report"}, "alarms_since": {"hang": 1.0}}, "silent"),
        ({"state": "ended", "verdict": "infrastructure", "verdict_attempt": 1}, "failed"),
        ({"state": "ended", "verdict": "infrastructure", "verdict_attempt": 0}, "ended, outcome unknown"),
        ({"state": ""}, "running"),
        ({"state": "ended", "state_time": CHANGED.timestamp() - 1}, "running"),
        ({"state": "ended", "attempt": 0}, "running"),
    ],
)
def test_the_newer_word_counts(told: dict[str, Any], condition: str) -> None:
    row = lay_over(ROW, status(**{"state_time": CHANGED.timestamp() + 1, **told}))
    assert row["condition"] == condition


def test_a_step_of_another_attempt_is_none_of_this_one() -> None:
    assert lay_over(ROW, status(step=12, metric_attempt=1))["step"] == 12
    assert lay_over(ROW, status(step=12, metric_attempt=0))["step"] == 10
    assert lay_over(ROW, status(attempt=0, step=12, metric_attempt=0))["step"] == 10


def test_the_newer_estimate_counts() -> None:
    held = {"time": CHANGED, "remaining_s": 50.0}
    newer = {
        "estimate_attempt": 1,
        "estimate_method": "progress",
        "estimate_remaining_s": 9.0,
        "estimate_time": CHANGED.timestamp() + 1,
    }
    found = newer_estimate(status(**newer), held)
    assert found
    assert found["remaining_s"] == 9.0
    for told in (
        {"estimate_time": CHANGED.timestamp()},
        {"estimate_attempt": 0},
        {"estimate_method": "unknown"},
        {"ended": 1.0},
    ):
        assert newer_estimate(status(**(newer | told)), held) is held
    assert newer_estimate(None, held) is held


def test_an_estimate_before_the_start_has_its_modes() -> None:
    modes = [DurationMode(0.25, 1.0, 60.0), DurationMode(0.75, 18_000.0, 32_400.0)]
    made = CHANGED.timestamp()
    waiting = status(
        estimate_attempt=1, estimate_time=made, estimate_duration_s=20_000.0, estimate_low_s=30.0, estimate_high_s=40_000.0,
        estimate_modes=modes, estimate_method="resubmission",
    )  # fmt: skip
    found = newer_estimate(waiting, None)
    assert found
    shown = expected(found)
    assert shown
    assert shown.duration.endswith("25 % end within 1 min; otherwise 5 h to 9 h")


def later(offset: int, *made: Record) -> list[tuple[Position, Record]]:
    return [(Position("later", 0, offset + place), on_the_wire(record)) for place, record in enumerate(made)]


@pytest.fixture
def redis_page(embedded: Embedded, redis_store: RedisServer) -> Iterator[tuple[str, RedisState]]:
    """The page of the made history beside a Redis that has heard all of it, and Redis."""
    write(embedded)
    with open_redis(redis_store.url, timeout_s=1.0) as client:
        state = RedisState(client)
        state.update(later(0, *records()))
        with web_server(embedded.connect, {}, states=partial(read_states, client)) as address:
            yield address, state


def get(address: str, path: str) -> str:
    with urllib.request.urlopen(address + path, timeout=PATIENCE_S) as answer:
        return str(answer.read().decode())


def rows(address: str) -> dict[str, dict[str, Any]]:
    return {row["job"]: row for row in json.loads(get(address, "/jobs.json"))["jobs"]}


@pytest.mark.redis
def test_redis_that_heard_the_same_changes_nothing(redis_page: tuple[str, RedisState], embedded: Embedded) -> None:
    address, _ = redis_page
    with web_server(embedded.connect, {}) as alone:
        assert rows(address) == rows(alone)
    assert "Redis does not answer" not in get(address, "/jobs")


@pytest.mark.redis
def test_what_happened_since_is_seen_at_once(redis_page: tuple[str, RedisState]) -> None:
    address, state = redis_page
    assert rows(address)["steady"]["step"] == 59
    now = Clock.now
    report = JobMetric(id="m", job="steady", time=now + 1, step=777, step_time_s=0.5, confidence=0.9, method="stated")
    left = Estimate(
        id="e", job="steady", revision=3, time=now + 1, duration_s=9000.0, remaining_s=100_000.0, remaining_low_s=90_000.0,
        remaining_high_s=110_000.0, done=0.25, method="progress",
    )  # fmt: skip
    begun = event("later", "started", -1, nodes=["n9"])
    ended = JobEvent(id="o", job="odd", kind="ended", time=now + 1, exit_code=3, scheduler="slurm", state="FAILED")
    state.update(later(1000, report, left, begun, ended))
    found = rows(address)
    assert found["steady"]["step"] == 777
    assert (found["later"]["condition"], found["later"]["nodes"]) == ("running", ["n9"])
    assert (found["odd"]["condition"], found["odd"]["exit_code"], found["odd"]["alarms"]) == ("failed", 3, [])
    assert found["again"]["condition"] == "running"
    page = get(address, "/job?id=steady")
    assert "<dd>777 <meter" in page
    assert "1 d 3 h" in page
    assert "</meter> 25 %</dd>" in page
    assert '<p class="headline bad"><span id="state">Failed' in get(address, "/job?id=odd")


@pytest.mark.redis
def test_without_redis_the_page_says_so_once_and_shows_what_the_database_holds(
    redis_page: tuple[str, RedisState], redis_store: RedisServer, embedded: Embedded
) -> None:
    address, _ = redis_page
    with web_server(embedded.connect, {}) as alone:
        held = rows(alone)
    redis_store.kill()
    try:
        for path in ("/", "/jobs", "/job?id=steady"):
            assert get(address, path).count("Redis does not answer") == 1
        assert rows(address) == held
    finally:
        redis_store.start()
    until(lambda: "Redis does not answer" not in get(address, "/jobs"))
