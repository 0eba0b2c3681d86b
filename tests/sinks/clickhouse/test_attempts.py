"""The view `attempts` where nobody reported an end, and the question for slower jobs where there were attempts before."""

import msgspec

from schedmate.explain.records import read_records
from schedmate_records import JobEvent, Position, Record
from sinks.clickhouse.queries import run
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded
from tests.sinks.made import metric

from .week import HOUR, NOW, ago, event, piped


def started(attempt: int, hours_ago: float, scheduler: str = "slurm") -> Record:
    return JobEvent(
        id=f"{attempt}/{scheduler}", job="again", attempt=attempt, kind="started", time=NOW - hours_ago * HOUR, scheduler=scheduler
    )  # fmt: skip


def test_an_attempt_without_an_end_ended_when_the_next_one_started(embedded: Embedded) -> None:
    told = [
        started(0, 9), started(0, 9.5, "pipe"),
        started(3, 7), started(3, 7.5, "pipe"),
        started(4, 5), event("again", "ended", 4, attempt=4, scheduler="slurm"),
        started(5, 2),
    ]  # fmt: skip
    ClickHouseWriter(embedded.connect).write([(Position("any", 0, place), each) for place, each in enumerate(told)])
    rows = embedded.client.query("SELECT attempt, started, ended FROM attempts WHERE job = 'again' ORDER BY attempt")
    assert list(rows.result_rows) == [
        (0, ago(9), ago(7)),
        (3, ago(7), ago(5)),
        (4, ago(5), ago(4)),
        (5, ago(2), None),
    ]


def test_an_end_that_only_a_pipe_reported_ends_no_attempt_that_a_scheduler_reported(embedded: Embedded) -> None:
    told = [
        event("kept", "started", 9, scheduler="slurm", nodes=["n1"], user="ada"),
        *(
            msgspec.structs.replace(
                event("kept", kind, 1, attempt=attempt, scheduler=by, exit_code=1, user="eve"),
                id=f"{by}/{kind}/{attempt}",
            )
            for by in ("pipe", "producer")
            for kind in ("started", "ended")
            for attempt in (0, 3)
        ),
        piped("alone", "started", 8),
        piped("alone", "ended", 7, exit_code=2),
    ]
    ClickHouseWriter(embedded.connect).write([(Position("any", 1, place), each) for place, each in enumerate(told)])
    rows = embedded.client.query(
        "SELECT job, attempt, started, ended, user, exit_code FROM attempts WHERE job IN ('kept', 'alone') ORDER BY job"
    )
    assert list(rows.result_rows) == [
        ("alone", 0, ago(8), ago(7), "", 2),
        ("kept", 0, ago(9), None, "ada", None),
    ]
    assert [row["scheduler"] for row in read_records(embedded.client, "kept").events] == ["slurm"]
    assert [row["exit_code"] for row in read_records(embedded.client, "alone").events] == [2, None]


def test_only_what_is_slower_in_its_newest_minutes_counts_as_slower(embedded: Embedded) -> None:
    rows = []
    for minute in range(60):
        at = NOW - HOUR + minute * 60
        warming_up, late = minute < 3, minute >= 50
        for job, rank, attempt, step_time_s in (
            ("warm", 0, 0, 5.0 if warming_up else 0.5),
            ("resumed", 0, int(late), 1.0 if late else 0.5),  # its newest attempt was never faster
            ("ranks", 0, 0, 0.5),
            ("ranks", 1, 0, 1.5 if late else 0.5),
        ):
            rows.append(
                metric(
                    minute * 2 + rank,
                    job,
                    offset=len(rows),
                    time=at,
                    rank=rank,
                    attempt=attempt,
                    step_time_s=step_time_s,
                )
            )
    ClickHouseWriter(embedded.connect).write(rows)
    answer = run(embedded.client, "slower", {})
    assert [row[:5] for row in answer.rows] == [("ranks", 0, 0.5, 1.0, 0.5)]
