"""The map of ranks."""

import time
from collections.abc import Callable, Iterator

import pytest

from schedmate.web.database import Database
from schedmate.web.ranks import COLUMNS, ROWS, RankMap, rank_map
from schedmate.web.reports import read_reports
from schedmate_records import JobMetric, Position
from sinks.clickhouse.incarnations import FoundJob
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]

NOW = float(int(time.time()) // 60 * 60)


def metric(job: str, rank: int, minute: int, seconds: float, attempt: int = 0) -> JobMetric:
    return JobMetric(
        id=f"{job}/{attempt}/{rank}/{minute}", job=job, attempt=attempt, rank=rank, time=NOW + 60 * minute, step=minute,
        step_time_s=seconds, confidence=0.9, method="stated",
    )  # fmt: skip


def shown(database: Database, job: str) -> RankMap | None:
    return rank_map(database, job, read_reports(database, FoundJob(job)))


@pytest.fixture
def database(embedded: Embedded) -> Iterator[Database]:
    known = Database(embedded.connect, embedded=True)
    yield known
    known.close()


def write(
    embedded: Embedded,
    job: str,
    seconds: Callable[[int, int], float | None],
    *,
    ranks: int,
    minutes: int,
    attempt: int = 0,
) -> None:
    writer = ClickHouseWriter(embedded.connect)
    made = [(rank, minute, seconds(rank, minute)) for rank in range(ranks) for minute in range(minutes)]
    writer.write(
        [
            (Position("made", attempt, place), metric(job, rank, minute, each, attempt))
            for place, (rank, minute, each) in enumerate(made)
            if each is not None
        ]
    )
    writer.close()


def test_a_slow_rank_and_a_silent_one_are_seen(embedded: Embedded, database: Database) -> None:
    write(
        embedded,
        "seen",
        lambda rank, minute: None if (rank, minute > 2) == (1, True) else 2.0 if rank == 3 else 1.0,
        ranks=5,
        minutes=6,
    )
    known = shown(database, "seen")
    assert known is not None
    assert (known.rows, known.columns, known.per_row, known.minutes) == (5, 6, 1, 1)
    levels = {(cell.row, cell.column): cell.level for cell in known.cells}
    assert {row for (row, _), level in levels.items() if level != "as-usual"} == {3}
    assert {levels[3, column] for column in range(6)} == {"very-slow"}
    assert [(1, column) in levels for column in range(6)] == [True, True, True, False, False, False]
    assert "rank 3: 2 s a step, 2.00 of the median" in {cell.text for cell in known.cells}


def test_the_map_of_a_large_job_stays_small_and_shows_the_slowest(embedded: Embedded, database: Database) -> None:
    write(
        embedded,
        "large",
        lambda rank, minute: None if rank == 3 and minute > 99 else 3.0 if rank == 77 else 1.0,
        ranks=200,
        minutes=170,
    )
    known = shown(database, "large")
    assert known is not None
    assert known.rows <= ROWS
    assert known.columns <= COLUMNS
    slow = {cell.row for cell in known.cells if cell.level == "very-slow"}
    assert slow == {77 // known.per_row}
    silent = {(cell.row, cell.column * known.minutes > 99) for cell in known.cells if cell.level == "silent"}
    assert silent == {(0, True)}


def test_the_newest_attempt_is_shown(embedded: Embedded, database: Database) -> None:
    write(embedded, "newest", lambda _, __: 1.0, ranks=4, minutes=3)
    write(embedded, "newest", lambda _, __: 1.0, ranks=2, minutes=3, attempt=1)
    known = shown(database, "newest")
    assert known is not None
    assert (known.attempt, known.rows) == (1, 2)


def test_one_rank_needs_no_map(embedded: Embedded, database: Database) -> None:
    write(embedded, "one", lambda _, __: 1.0, ranks=1, minutes=3)
    assert shown(database, "one") is None
    assert shown(database, "unknown") is None
