"""Chunks of `job-logs` in the table `job_lines`: every line once, up to the quota."""

import itertools
import time
from collections.abc import Callable

import pytest

from schedmate.services.job_lines import JobLineWriter
from schedmate_records import LogChunk, Position
from sinks.clickhouse.incarnations import FoundJob, find_job
from sinks.clickhouse.lines import Selection, StoredLine, check_pattern, last_place, line_streams, new_lines, read_lines
from sinks.clickhouse.writer import ClickHouseWriter
from sinks.errors import SinkRejected
from tests.metric_values import value
from tests.sinks.conftest import Embedded, embedded
from tests.sinks.made import T0, Row

__all__ = ["embedded"]

_names = itertools.count()
DAY = 86_400.0


@pytest.fixture
def job() -> str:
    return f"job-{next(_names)}"


def chunk(job: str, offset: int, *lines: str, first: int = 1, numbered: bool = True, **fields: object) -> Row:
    numbers = {"producer": "p", "first_line": first, "first_piece": first} if numbered else {}
    record = LogChunk(job=job, lines=list(lines), time=T0 + offset, **{**numbers, **fields})
    return Position("job-logs", 0, offset), record


def writer(embedded: Embedded, quota_mb: float = 1.0, clock: Callable[[], float] | None = None) -> JobLineWriter:
    return JobLineWriter(ClickHouseWriter(embedded.connect), quota_mb, clock or time.time)


def stored(embedded: Embedded, job: str, **chosen: object) -> list[StoredLine]:
    selection = Selection(**chosen)  # type: ignore[arg-type]
    found = find_job(embedded.client, job)
    streams = line_streams(embedded.client, found, selection)
    return [line for stream in streams for line in read_lines(embedded.client, job, stream, selection)]


def texts(embedded: Embedded, job: str, **chosen: object) -> list[tuple[int, str]]:
    return [(line.line, line.text) for line in stored(embedded, job, **chosen)]


def test_lines_are_stored_with_their_numbers_by_rank_and_line(embedded: Embedded, job: str) -> None:
    writer(embedded).write(
        [
            chunk(job, 1, "b1", "b2", rank=1),
            chunk(job, 2, "a1", rank=0),
            chunk(job, 3, "a2", "a3", first=2, rank=0),
            chunk(job, 4, "e1", rank=0, stream="stderr"),
        ]
    )
    assert texts(embedded, job) == [(1, "a1"), (2, "a2"), (3, "a3"), (1, "e1"), (1, "b1"), (2, "b2")]
    assert texts(embedded, job, rank=1) == [(1, "b1"), (2, "b2")]


def test_repeats_are_stored_once(embedded: Embedded, job: str) -> None:
    batch = [chunk(job, 1, "a", "b"), chunk(job, 2, "c", first=3)]
    writer(embedded).write(batch)
    writer(embedded).write(batch)
    # A collector that was killed reads its file again: same pieces, other times, other chunks.
    again = (
        Position("job-logs", 0, 9),
        LogChunk(job=job, producer="p", first_line=2, first_piece=2, lines=["b", "c", "d"], time=T0 + 99),
    )
    writer(embedded).write([again])
    assert texts(embedded, job) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


def test_lines_without_numbers_are_counted(embedded: Embedded, job: str) -> None:
    batches = [[chunk(job, offset, f"line {offset}", numbered=False)] for offset in range(1, 4)]
    one = writer(embedded)
    one.write(batches[0])
    one.write(batches[1])
    other = writer(embedded)
    other.write(batches[1])
    other.write(batches[2])
    assert texts(embedded, job) == [(1, "line 1"), (2, "line 2"), (3, "line 3")]


def test_a_redrawn_bar_is_stored_in_its_last_state(embedded: Embedded, job: str) -> None:
    writer(embedded).write([chunk(job, 1, "10%\r", "20%\r", "done", "next")])
    assert texts(embedded, job) == [(1, "done"), (2, "next")]


def test_bytes_of_a_line_are_data(embedded: Embedded, job: str) -> None:
    odd = ["\x1b[31mred\x00", "'; DROP TABLE job_lines; --", "{job:String}", "\\xff \ud7ff", ""]
    writer(embedded).write([chunk(job, 1, *odd)])
    assert [line.text for line in stored(embedded, job)] == odd


def test_lines_beyond_the_quota_are_counted(embedded: Embedded, job: str) -> None:
    lines = writer(embedded, quota_mb=0.00001)  # ten bytes
    lines.write([chunk(job, 1, "12345"), chunk(job, 2, "6", "7", "8", "9", "10", first=2), chunk(job, 3, "x", first=7)])
    assert [(each.line, each.text, each.omitted) for each in stored(embedded, job)] == [
        (1, "12345", 0), (2, "", 5), (7, "", 1)
    ]  # fmt: skip
    assert value(lines.metrics.omitted) == 6
    assert texts(embedded, job, pattern=".*") == [(1, "12345")]


def test_the_quota_holds_over_a_restart_and_until_the_day_ends(embedded: Embedded, job: str) -> None:
    now = [time.time()]
    writer(embedded, 0.00001).write([chunk(job, 1, "123456789")])
    later = writer(embedded, 0.00001, lambda: now[0])
    later.write([chunk(job, 2, "abc", first=2)])
    now[0] += DAY
    later.write([chunk(job, 3, "new day", first=3)])
    assert [(each.text, each.omitted) for each in stored(embedded, job)] == [("123456789", 0), ("", 1), ("new day", 0)]


def test_search_finds_lines_by_pattern_place_and_time(embedded: Embedded, job: str) -> None:
    writer(embedded).write(
        [chunk(job, 1, *(f"step {number} ok" for number in range(1, 101))), chunk(job, 50, "CUDA error: x", first=101)]
    )
    assert texts(embedded, job, pattern="(?i)cuda ERROR") == [(101, "CUDA error: x")]
    assert texts(embedded, job, pattern="step 7 ") == [(7, "step 7 ok")]
    assert [line for line, _ in texts(embedded, job, around=50)] == list(range(30, 71))
    assert texts(embedded, job, since=T0 + 40) == [(101, "CUDA error: x")]


def test_a_pattern_that_is_none_is_explained(embedded: Embedded) -> None:
    for pattern in ("(", r"(a)\1", "(?=a)"):
        with pytest.raises(SinkRejected, match="regular expression as RE2 reads it"):
            check_pattern(embedded.client, pattern)
    check_pattern(embedded.client, "(a+)+$")


def test_new_lines_come_in_order_of_arrival(embedded: Embedded, job: str) -> None:
    lines, found = writer(embedded), FoundJob(job)
    lines.write([chunk(job, 1, "old")])
    after = last_place(embedded.client, found)
    lines.write([chunk(job, 2, "r1", rank=1), chunk(job, 3, "r0", "r0 again", first=2)])
    came = [line for _, line in new_lines(embedded.client, found, Selection(), after)]
    assert [line.text for line in came] == ["r1", "r0", "r0 again"]
    after[0] = (came[1].src_offset, came[1].piece)
    assert [line.text for _, line in new_lines(embedded.client, found, Selection(), after)] == ["r0 again"]


def test_more_lines_than_a_page_are_read(embedded: Embedded, job: str) -> None:
    writer(embedded).write([chunk(job, offset, *(["x"] * 4_000), first=offset * 4_000 + 1) for offset in range(3)])
    assert [line.line for line in stored(embedded, job)] == list(range(1, 12_001))
