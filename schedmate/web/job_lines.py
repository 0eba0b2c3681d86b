"""The newest lines of a job: stored ones from ClickHouse, else those that Kafka still keeps."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from clickhouse_connect.driver.client import Client

from schedmate_records import InvalidRecord, LogChunk
from sinks import SinkRejected
from sinks.clickhouse.incarnations import FoundJob
from sinks.clickhouse.lines import LineStream, Selection, line_streams, newest_attempt, newest_lines
from streams.accept import accept
from streams.transport import Message

from .database import Database

LINES: Final = 2_000
"""Newest lines of each stream that are read: formats are known after some twenty reports."""

ReadNewest = Callable[[str, int], Iterator[Message]]
"""Reads the messages of a job among the newest so many of its partition. Raises `TransportError`."""


def newest_chunks(database: Database, read: ReadNewest | None, job: FoundJob) -> list[LogChunk]:
    """Return chunks with the newest lines of the first rank of `job`; empty where none is kept.

    Raises:
        SinkUnavailable: The database is unreachable.
        TransportError: No broker, or no right to read.
    """
    try:
        stored = database.use(lambda client: _stored(client, job))
    except SinkRejected:  # an older database has no lines
        stored = []
    return stored or (_newest_chunks(read, job) if read else [])


def _stored(client: Client, job: FoundJob) -> list[LogChunk]:
    attempt = newest_attempt(client, job)
    if attempt is None:
        return []
    streams = line_streams(client, job, Selection(attempt))
    # Streams of one rank, and of producers that followed one another.
    first = [each for each in streams if each.rank == streams[0].rank][-4:]
    chunks = [_chunk(client, job, stream) for stream in first]
    return [each for each in chunks if each.lines]


def _chunk(client: Client, job: FoundJob, stream: LineStream) -> LogChunk:
    lines = newest_lines(client, job.job, stream, LINES)
    start = lines[0].time if lines else None
    return LogChunk(
        job=job.job,
        attempt=stream.attempt,
        rank=stream.rank,
        stream=stream.stream,
        producer=stream.producer,
        lines=[each.text for each in lines],
        time=start.timestamp() if start else 0.0,
        after_ms=[max(0, round((each.time - start).total_seconds() * 1000)) for each in lines] if start else [],
        first_line=1,
        first_piece=1,
    )


def _newest_chunks(read: ReadNewest, job: FoundJob) -> list[LogChunk]:
    # Newest messages of the job's partition; those of other jobs are among them.
    chunks = [each for each in _chunks(read(job.job, 1_000)) if each.incarnation in (job.incarnation, "")]
    attempt = max((each.attempt for each in chunks), default=0)
    rank = min((each.rank for each in chunks if each.attempt == attempt), default=0)
    found: list[LogChunk] = []
    lines = 0
    for each in reversed(chunks):
        if (each.attempt, each.rank) == (attempt, rank) and lines < LINES:
            found.append(each)
            lines += len(each.lines)
    return found[::-1]


def _chunks(messages: Iterator[Message]) -> Sequence[LogChunk]:
    found = []
    for message in messages:
        try:
            record = accept(message)
        except InvalidRecord:
            continue
        if isinstance(record, LogChunk):
            found.append(record)
    return found
