"""The list of jobs, page by page."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from schedmate.explain.records import read_records
from schedmate.job_state import StateWord
from schedmate.web.database import Database
from schedmate.web.jobs import PAGE, Filter, all_jobs, list_jobs
from schedmate.web.one_job import one_job
from schedmate_records import EventKind, JobEvent, Position, Record
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]

JOBS = 20_000
NOW = datetime(2026, 11, 1, tzinfo=UTC)
KNOWN = [
    {
        "job": f"job-{number}", "name": "", "user": f"user-{number % 7}", "causes": (), "nodes": [f"n{number % 500}"], "alarms": (),
        "condition": StateWord.RUNNING if number % 100 == 0 else StateWord.COMPLETED, "gpus": float(number % 64),
        "changed": NOW - timedelta(seconds=number), "started": NOW - timedelta(seconds=2 * number), "ended": None,
    }
    for number in range(JOBS)
]  # fmt: skip


@pytest.fixture
def database(embedded: Embedded) -> Iterator[Database]:
    known = Database(embedded.connect, embedded=True)
    yield known
    known.close()


@pytest.mark.parametrize("sort", ["newest", "oldest", "job", "gpus", "longest", "slowest"])
def test_pages_hold_every_job_once(database: Database, sort: str) -> None:
    wanted = {"show": "running", "sort": sort}
    pages = list_jobs(database, KNOWN, Filter.read(wanted)).pages
    assert pages == JOBS // 100 // PAGE
    seen = [
        row["job"]
        for page in range(1, pages + 1)
        for row in list_jobs(database, KNOWN, Filter.read({**wanted, "page": str(page)})).rows
    ]
    assert len(seen) == len(set(seen)) == JOBS // 100


def test_one_of_very_many_is_found(database: Database) -> None:
    found = list_jobs(database, KNOWN, Filter.read({"q": f"JOB-{JOBS - 1}"}))
    assert ([row["job"] for row in found.rows], found.found, found.pages) == ([f"job-{JOBS - 1}"], 1, 1)
    last = list_jobs(database, KNOWN, Filter.read({"page": str(JOBS // PAGE)}))
    assert (len(last.rows), last.pages, last.rows[-1]["job"]) == (PAGE, JOBS // PAGE, f"job-{JOBS - 1}")
    assert not list_jobs(database, KNOWN, Filter.read({"page": str(JOBS // PAGE + 1)})).rows


def test_ends_that_pipes_report_change_no_job_that_a_scheduler_reports(embedded: Embedded, database: Database) -> None:
    def event(job: str, by: str, kind: EventKind, time: float, attempt: int = 0, **fields: object) -> Record:
        return JobEvent(
            id=f"{by}/{job}/{attempt}/{kind}/1", job=job, attempt=attempt, kind=kind, time=NOW.timestamp() + time, scheduler=by, **fields  # type: ignore[arg-type]
        )  # fmt: skip

    told = [
        event("runs", "slurm", EventKind.STARTED, 0, user="ada", nodes=["n1"]),
        *(
            event("runs", by, kind, 60 + attempt, attempt, exit_code=1, user="eve")
            for by in ("pipe", "producer")
            for kind in (EventKind.STARTED, EventKind.ENDED)
            for attempt in (0, 4)
        ),
        event("alone", "pipe", EventKind.STARTED, 0, user="ada"),
        event("alone", "pipe", EventKind.ENDED, 60, exit_code=3),
    ]
    ClickHouseWriter(embedded.connect).write([(Position("any", 0, place), each) for place, each in enumerate(told)])
    found = {
        row["job"]: (row["attempt"], row["condition"], row["user"], row["exit_code"]) for row in all_jobs(database)
    }
    assert found == {"runs": (0, "running", "ada", None), "alone": (0, "failed", "ada", 3)}
    for job, expected in found.items():
        row = one_job(database, read_records(embedded.client, job), [])
        assert row
        assert (row["attempt"], row["condition"], row["user"], row["exit_code"]) == expected
