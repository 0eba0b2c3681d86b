"""GPUs and GPU hours of jobs whose GPUs nobody reported are null, and those of jobs without GPUs are 0."""

import time

import pytest

from schedmate_records import EventKind, Failure, JobEvent, Position
from sinks.clickhouse.queries import run
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]
NOW = time.time()


@pytest.fixture(scope="module")
def database(embedded: Embedded) -> Embedded:
    records = []
    for job, gpus in (("unknown", None), ("none", 0.0), ("some", 2.0)):
        known = {"scheduler": "slurm", "gpus": gpus, "user": "ada", "nodes": ["n1"]}
        records += [
            JobEvent(id=f"{job}/s", job=job, kind=EventKind.STARTED, time=NOW - 7200, **known),  # type: ignore[arg-type]
            JobEvent(id=f"{job}/e", job=job, kind=EventKind.ENDED, time=NOW - 3600, exit_code=1, scheduler="slurm"),
            Failure(id=job, job=job, revision=1, time=NOW - 3600, error_type="user_script", signature=f"of_{job}", message="boom"),
        ]  # fmt: skip
    writer = ClickHouseWriter(embedded.connect)
    writer.write([(Position("made", 0, place), record) for place, record in enumerate(records)])
    writer.close()
    return embedded


@pytest.mark.parametrize("question", ["top_causes", "gpu_hours_lost"])
def test_gpu_hours_of_unknown_gpus_are_null(database: Embedded, question: str) -> None:
    answer = run(database.client, question, {})
    hours = {row[answer.columns.index("signature")]: row[answer.columns.index("gpu_hours")] for row in answer.rows}
    assert hours == {"of_unknown": None, "of_none": 0.0, "of_some": 2.0}
    if question == "gpu_hours_lost":
        unknown = answer.columns.index("attempts_of_unknown_gpus")
        assert {row[2]: row[unknown] for row in answer.rows} == {"of_unknown": 1, "of_none": 0, "of_some": 0}


def test_past_jobs_have_their_gpus(database: Embedded) -> None:
    answer = run(database.client, "past_jobs", {})
    assert {row[0]: row[answer.columns.index("gpus")] for row in answer.rows} == {
        "unknown": None,
        "none": 0.0,
        "some": 2.0,
    }
