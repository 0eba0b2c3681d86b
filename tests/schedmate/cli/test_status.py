"""`schedmate status` states what became of each kind of job, on a real terminal and from a real Redis."""

import re
import time
from typing import Any

import pytest

from schedmate.cli.status import details
from schedmate_records import Alarm, Checkpoint, JobEvent, JobMetric, Position, Record
from sinks.redis.connect import open_redis
from sinks.redis.read_state import read_job
from sinks.redis.state import RedisState
from tests.servers.redis import RedisServer
from tests.sinks.redis.store import on_the_wire

from .on_terminal import on_terminal

pytestmark = pytest.mark.redis

NOW = time.time()
PREFIX = "states:"


def event(job: str, kind: str, ago: float, **fields: Any) -> JobEvent:
    known = {"scheduler": "slurm", "nodes": ["n1"]} | fields
    return JobEvent(id=f"{job}/{kind}", job=job, kind=kind, time=NOW - ago, **known)  # type: ignore[arg-type]


def report(job: str, step: int, ago: float, **fields: Any) -> JobMetric:
    return JobMetric(id=f"{job}/{step}", job=job, time=NOW - ago, step=step, step_time_s=0.1, **fields)


def alarm(job: str, kind: str, detail: str, since: float, over: float | None = None) -> list[Record]:
    known: dict[str, Any] = {"job": job, "kind": kind, "detail": detail, "since": NOW - since}
    raised = Alarm(id=f"{job}/{kind}/1", raised=True, time=NOW - since + 1, **known)
    return [raised] if over is None else [raised, Alarm(id=f"{job}/{kind}/0", raised=False, time=NOW - over, **known)]


RECORDS: list[Record] = [
    event("nan", "started", 3000),
    report("nan", 600, 700, loss_not_finite=True, loss_step=125),
    *alarm("nan", "loss_not_finite", "Loss NaN since step 125", 2000, over=600),
    event("nan", "ended", 600, exit_code=0, signal=0, state="COMPLETED"),
    event("stopped", "started", 3000),
    event("stopped", "ended", 600, exit_code=0, signal=15, state="CANCELLED by 1000"),
    event("wrong", "started", 3000, scheduler="pipe"),
    event("wrong", "ended", 600, exit_code=1, signal=0, scheduler="pipe"),
    event("unseen", "started", 3000, scheduler="pipe"),
    event("unseen", "ended", 600, scheduler="pipe"),
    event("hung", "started", 3000),
    Checkpoint(id="hung/c", job="hung", number=1, state="durable", time=NOW - 1275, since=NOW - 1275, step=140),
    report("hung", 150, 1260, loss=1.5, loss_step=140),
    *alarm("hung", "hang", "no report since step 150; one came every 10 s before", 1260),
]


@pytest.fixture
def url(redis_store: RedisServer) -> str:
    with open_redis(redis_store.url) as client:
        batch = [(Position("t", 0, place), on_the_wire(record)) for place, record in enumerate(RECORDS)]
        RedisState(client, prefix=PREFIX).update(batch)
    return redis_store.url


def test_each_job_is_one_line_of_a_terminal_with_its_state(url: str) -> None:
    shown = on_terminal("status", columns=100, SCHEDMATE_REDIS__URL=url, SCHEDMATE_REDIS__PREFIX=PREFIX)
    lines = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    assert set(lines) == {"job", "nan", "stopped", "wrong", "unseen", "hung"}
    assert max(map(len, shown.splitlines())) <= 100
    assert "completed, loss NaN" in lines["nan"]
    assert "cancelled" in lines["stopped"]
    assert "failed (exit code 1)" in lines["wrong"]
    assert "ended, outcome unk" in lines["unseen"]
    assert re.search(r"silent for \d+ min", lines["hung"])


def test_a_job_states_its_loss_and_what_would_be_lost(url: str) -> None:
    with open_redis(url) as client:
        known = {job: details(status) for job in ("nan", "hung") if (status := read_job(client, job, prefix=PREFIX))}
    assert known["nan"]["state"] == "completed, loss NaN since step 125"
    assert known["nan"]["progress"] == "step 600, loss NaN since step 125"
    assert known["nan"]["alarms"] == "Loss NaN since step 125"
    assert known["hung"]["progress"] == "step 150, loss 1.5 at step 140", "a loss is shown at its own step"
    assert known["hung"]["lost if stopped"].startswith("15 seconds of work")
