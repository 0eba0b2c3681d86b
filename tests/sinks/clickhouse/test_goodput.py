"""The question `goodput`, from events, reports, checkpoints and alarms."""

import time
from typing import Any

import pytest

import schedmate_records as records
from schedmate_records import Position, Record
from sinks.clickhouse.queries import run
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]

H = 3600.0
T0 = float(int(time.time() // 60) * 60) - 10 * 24 * H
"""The beginning of a minute, ten days ago."""


def event(job: str, kind: str, at: float, **fields: Any) -> Record:
    return records.JobEvent(id=f"{job}/{kind}/{at}", job=job, kind=kind, time=T0 + at, scheduler="slurm", **fields)


def ran(job: str, hours: float, user: str = "ada", gpus: float | None = 8.0, **end: Any) -> list[Record]:
    return [
        event(job, "submitted", -0.5 * H, user=user, gpus=gpus),
        event(job, "started", 0, user=user, gpus=gpus, nodes=["n1"]),
        event(job, "ended", hours * H, state=end.pop("state", "COMPLETED"), **end),
    ]


def reported(job: str, at: float) -> Record:
    return records.JobMetric(id=f"{job}/{at}", job=job, time=T0 + at, step=int(at), step_time_s=1.0)


def failed(job: str, at: float, **fields: Any) -> Record:
    known = {"error_type": "infrastructure", "signature": "xid_fallen_off_bus", "message": "m", **fields}
    return records.Failure(id=f"{job}/v", job=job, time=T0 + at, **known)


RECORDS: list[Record] = [
    # Ten hours on 8 GPUs: one to start, one of a hang, half an hour of saving, and 3.5 since the last checkpoint when it failed.
    *ran("lost", 10, state="FAILED", exit_code=1), reported("lost", 1 * H), reported("lost", 9 * H), failed("lost", 10 * H),
    records.Checkpoint(id="c1", job="lost", number=1, state="durable", durable_by="completion", time=T0 + 6.5 * H, since=T0 + 6 * H,
                       duration_s=0.5 * H, step=1),
    records.Alarm(id="a1", job="lost", kind="hang", raised=True, time=T0 + 2.1 * H, since=T0 + 2 * H, value=1.0, detail="d"),
    records.Alarm(id="a2", job="lost", kind="hang", raised=False, time=T0 + 3 * H, since=T0 + 2 * H, value=1.0, detail="d"),
    # Nothing lost but the start.
    *ran("well", 4, user="ben", gpus=1.0), reported("well", 1 * H),
    # It never reported and did not fail.
    *ran("silent", 2, user="ben", gpus=1.0),
    # It failed before its first report: all is lost, by the program.
    *ran("early", 1, user="ben", gpus=1.0, state="FAILED", exit_code=1), failed("early", 1 * H, error_type="user_script", signature=""),
    # The number of its GPUs is not known.
    *ran("without", 5, user="eve", gpus=None), reported("without", 1 * H),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def filled(embedded: Embedded) -> None:
    writer = ClickHouseWriter(embedded.connect)
    writer.write([(Position("t", 0, number), record) for number, record in enumerate(RECORDS)])
    writer.close()


def goodput(embedded: Embedded, **given: str) -> dict[str, dict[str, Any]]:
    answer = run(embedded.client, "goodput", given)
    return {row[0]: dict(zip(answer.columns, row, strict=True)) for row in answer.rows}


def test_time_of_a_failed_job_is_attributed_to_what_took_it(embedded: Embedded) -> None:
    row = goodput(embedded, by="job")["lost"]
    assert row["gpu_hours"] == 80
    assert row["starting_gpu_hours"] == 8
    assert row["hangs_gpu_hours"] == 8
    assert row["checkpoints_gpu_hours"] == 4
    assert row["failures_gpu_hours"] == 32
    assert row["goodput"] == pytest.approx(28 / 80, abs=1e-4)
    assert row["queued_hours"] == 0.5
    assert row["mttf_hours"] == 10


def test_attempts_that_nothing_is_known_of_are_left_out_of_the_ratio(embedded: Embedded) -> None:
    rows = goodput(embedded, by="job")
    assert (rows["silent"]["goodput"], rows["silent"]["unknown_gpu_hours"]) == (None, 2)
    assert (rows["early"]["goodput"], rows["early"]["failures_gpu_hours"]) == (0, 1)
    assert rows["early"]["mttf_hours"] is None
    assert "without" not in rows
    ben = goodput(embedded, by="user")["ben"]
    assert (ben["gpu_hours"], ben["unknown_gpu_hours"], ben["goodput"]) == (7, 2, 0.6)


def test_causes_sizes_and_months_are_grouped(embedded: Embedded) -> None:
    assert set(goodput(embedded, by="cause")) == {"xid_fallen_off_bus", "unknown cause", "no failure"}
    assert list(goodput(embedded, by="size")) == ["1", "2 to 8"]
    month = time.strftime("%Y-%m", time.gmtime(T0))
    assert list(goodput(embedded)) == [month]
    assert goodput(embedded, month=month)[month]["failures"] == 2
    assert goodput(embedded, month="2020-01") == {}
