"""Reading the table `job_lines`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from clickhouse_connect.driver.client import Client

from schedmate_records import Position

from ..errors import SinkRejected, UnknownFault
from .faults import translated_errors
from .incarnations import FoundJob
from .queries import ask

PAGE = 5_000
"""Lines read at a time: half a megabyte of usual lines."""
AROUND = 20
"""Lines before and after one that is looked up."""

_SO_FAR = (
    "SELECT job, attempt, incarnation, rank, toString(stream) AS stream, sumIf(length(text), toDate(stored) = {day:Date}) AS size, "
    "maxIf(line + greatest(omitted, 1) - 1, producer = '') AS line FROM job_lines WHERE job IN {jobs:Array(String)} "
    # A batch that is written again is decided as before: what it has stored itself does not count.
    "AND src_offset < transform(job, {jobs:Array(String)}, {offsets:Array(Int64)}, 0) "
    "GROUP BY job, attempt, incarnation, rank, stream"
)
_STREAMS = (
    "SELECT attempt, rank, toString(stream) AS stream, incarnation, toString(producer) AS producer, "
    "argMax(toString(l.node), l.time) AS node FROM job_lines AS l WHERE {conditions} "
    "GROUP BY attempt, rank, stream, incarnation, producer ORDER BY attempt, rank, stream DESC, min(l.time)"
)
_AT = (
    "SELECT attempt, rank, toString(stream) AS stream, incarnation, toString(producer) AS producer, toString(node) AS node, piece "
    "FROM job_lines WHERE job = {job:String} AND incarnation IN ({incarnation:String}, '') "
    "AND src_partition = {partition:Int32} AND src_offset = {offset:Int64} ORDER BY line != {line:Int64}, piece LIMIT 1"
)
_OWN = "job = {job:String} AND incarnation IN ({incarnation:String}, '')"
_OF_STREAM = (
    "job = {job:String} AND attempt = {attempt:Int64} AND rank = {rank:Int64} AND stream = {stream:String} "
    "AND incarnation = {incarnation:String} AND producer = {producer:String}"
)
_LINES = "piece, line, time, text, omitted, src_partition, src_offset"


@dataclass(frozen=True)
class Selection:
    """Lines of a job that a person asks for.

    Attributes:
        attempt: Restart count; None for all attempts.
        rank: One rank; None for all.
        pattern: Regular expression of RE2 that lines match; empty for all lines.
        around: Number of a line: only lines near it; None for all.
        since: Arrival time from which on, in seconds since 1970; None for all.
    """

    attempt: int | None = None
    rank: int | None = None
    pattern: str = ""
    around: int | None = None
    since: float | None = None


@dataclass(frozen=True)
class LineStream:
    """Lines of one producer of one stream of one rank."""

    attempt: int
    rank: int
    stream: str
    incarnation: str
    producer: str
    node: str


@dataclass(frozen=True)
class StoredLine:
    """A line of `job_lines`. `omitted` lines from here on were not stored; `text` is empty then."""

    piece: int
    line: int
    time: datetime
    text: str
    omitted: int
    src_partition: int
    src_offset: int


@dataclass
class StoredSoFar:
    """Stored lines of a job.

    Attributes:
        size: Bytes of text that were stored on one day.
        lines: Number of lines of each stream without line numbers, by attempt, incarnation, rank and name.
    """

    size: int = 0
    lines: dict[tuple[int, str, int, str], int] = field(default_factory=dict)


def stored_so_far(client: Client, first: Mapping[str, Position], day: date) -> dict[str, StoredSoFar]:
    """Return what each job in `first` has stored from messages before its place there; sizes are of `day`.

    Raises:
        SinkUnavailable: The server is away.
        SinkRejected: The table is missing.
    """
    found = {job: StoredSoFar() for job in first}
    with translated_errors("asking for the lines of the day"):
        rows = client.query(
            _SO_FAR, parameters={"jobs": list(first), "offsets": [place.offset for place in first.values()], "day": day}
        ).result_rows
    for job, attempt, incarnation, rank, stream, size, line in rows:
        found[job].size += size
        found[job].lines[attempt, incarnation, rank, stream] = line
    return found


def check_pattern(client: Client, pattern: str) -> None:
    """Raise `SinkRejected` where `pattern` is no regular expression of RE2."""
    try:
        ask(client, "SELECT match('', {pattern:String})", {"pattern": pattern})
    except UnknownFault as error:
        raise SinkRejected(
            f"expected a regular expression as RE2 reads it (no look-around, no back-references), got {pattern!r}"
        ) from error


def line_streams(client: Client, job: FoundJob, selection: Selection) -> list[LineStream]:
    """Return the streams of the selected attempts and ranks, by attempt and rank, `stdout` first. Raises as `ask` does."""
    conditions, values = _streams(job, selection)
    answer = ask(client, _STREAMS.replace("{conditions}", conditions), values)
    return [LineStream(*row) for row in answer.rows]


def read_lines(client: Client, job: str, stream: LineStream, selection: Selection) -> Iterator[StoredLine]:
    """Yield the selected lines of a stream of `job` in order, read in pages of `PAGE`. Raises as `ask` does."""
    conditions, values = _filters(selection)
    names = ("attempt", "rank", "stream", "incarnation", "producer")
    values |= {"job": job} | {name: str(getattr(stream, name)) for name in names}
    after = -1
    while True:
        answer = ask(
            client,
            f"SELECT {_LINES} FROM job_lines FINAL WHERE {_OF_STREAM} "  # noqa: S608 - our own names
            f"AND piece > {{after:Int64}}{conditions} ORDER BY piece LIMIT {PAGE}",
            {**values, "after": str(after)},
        )
        page = [StoredLine(*row) for row in answer.rows]
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].piece


def last_place(client: Client, job: FoundJob) -> dict[int, tuple[int, int]]:
    """Return the offset and the piece of the newest line of `job` in each partition. Raises as `ask` does."""
    sql = f"SELECT src_partition, max((src_offset, piece)) FROM job_lines WHERE {_OWN} GROUP BY src_partition"  # noqa: S608
    return {partition: (offset, piece) for partition, (offset, piece) in ask(client, sql, _key_columns(job)).rows}


def lines_at(
    client: Client, job: FoundJob, place: Position, line: int, near: int
) -> tuple[LineStream, list[StoredLine], int] | None:
    """Return the lines around one, `near` before and after it, with their stream and the index of that one; None where it is not stored.

    Args:
        client: Client of a migrated database.
        job: The job that printed it.
        place: The message that holds it.
        line: Its number; where the message does not hold that, its first line is meant.
        near: Lines before and after it at most.

    Raises:
        SinkRejected: The table is missing.
        SinkUnavailable: The server is away.
    """
    at = {"partition": str(place.partition), "offset": str(place.offset), "line": str(line)}
    found = ask(client, _AT, {**_key_columns(job), **at}).rows
    if not found:
        return None
    stream, piece = LineStream(*found[0][:6]), int(found[0][6])
    names = ("attempt", "rank", "stream", "incarnation", "producer")
    values = {"job": job.job, "piece": str(piece)} | {name: str(getattr(stream, name)) for name in names}
    halves = [
        ask(
            client,
            f"SELECT {_LINES} FROM job_lines FINAL WHERE {_OF_STREAM} AND piece {side} {{piece:Int64}} "  # noqa: S608 - our own names
            f"ORDER BY piece {order} LIMIT {int(count)}",
            values,
        ).rows
        for side, order, count in (("<=", "DESC", near + 1), (">", "ASC", near))
    ]
    lines = [StoredLine(*row) for row in (*reversed(halves[0]), *halves[1])]
    return stream, lines, len(halves[0]) - 1


def new_lines(
    client: Client, job: FoundJob, selection: Selection, after: Mapping[int, tuple[int, int]], limit: int = PAGE
) -> list[tuple[LineStream, StoredLine]]:
    """Return the selected lines behind the places `after`, in order of arrival, `limit` at most. Raises as `ask` does."""
    chosen, values = _streams(job, selection)
    filters, more = _filters(selection)
    passed = "".join(
        f" AND NOT (src_partition = {partition} AND (src_offset, piece) <= ({offset}, {piece}))"
        for partition, (offset, piece) in after.items()
    )
    answer = ask(
        client,
        "SELECT attempt, rank, toString(stream) AS stream, incarnation, toString(producer) AS producer, "  # noqa: S608 - our own names
        f"toString(node) AS node, {_LINES} FROM job_lines FINAL WHERE {chosen}{filters}{passed} "
        f"ORDER BY src_partition, src_offset, piece LIMIT {int(limit)}",
        values | more,
    )
    return [(LineStream(*row[:6]), StoredLine(*row[6:])) for row in answer.rows]


def newest_lines(client: Client, job: str, stream: LineStream, count: int) -> list[StoredLine]:
    """Return the newest `count` lines of a stream of `job` that were stored, in order. Raises as `ask` does."""
    names = ("attempt", "rank", "stream", "incarnation", "producer")
    values = {"job": job} | {name: str(getattr(stream, name)) for name in names}
    answer = ask(
        client,
        f"SELECT {_LINES} FROM job_lines FINAL WHERE {_OF_STREAM} AND omitted = 0 "  # noqa: S608 - our own names
        f"ORDER BY piece DESC LIMIT {int(count)}",
        values,
    )
    return [StoredLine(*row) for row in reversed(answer.rows)]


def newest_attempt(client: Client, job: FoundJob) -> int | None:
    """Return the newest attempt of `job` that has lines; None where none has. Raises as `ask` does."""
    sql = f"SELECT maxOrNull(attempt) FROM job_lines WHERE {_OWN}"  # noqa: S608 - our own names
    ((attempt,),) = ask(client, sql, _key_columns(job)).rows
    return None if attempt is None else int(attempt)


def any_lines(client: Client) -> bool:
    """Return whether lines of any job are stored. Raises as `ask` does."""
    return bool(ask(client, "SELECT 1 FROM job_lines LIMIT 1").rows)


def _streams(job: FoundJob, selection: Selection) -> tuple[str, dict[str, str]]:
    """Return the condition of the selected attempts and ranks of `job`, and its values."""
    found, values = _OWN, _key_columns(job)
    for name, value in (("attempt", selection.attempt), ("rank", selection.rank)):
        if value is not None:
            found += f" AND {name} = {{{name}:Int64}}"
            values[name] = str(value)
    return found, values


def _filters(selection: Selection) -> tuple[str, dict[str, str]]:
    """Return the conditions on lines, each after ` AND `, and their values."""
    found, values = "", {}
    if selection.pattern:
        found += " AND match(text, {pattern:String}) AND omitted = 0"
        values["pattern"] = selection.pattern
    if selection.around is not None:
        found += " AND line BETWEEN {first:Int64} AND {last:Int64}"
        values |= {"first": str(selection.around - AROUND), "last": str(selection.around + AROUND)}
    if selection.since is not None:
        found += " AND time >= fromUnixTimestamp64Micro({since:Int64}, 'UTC')"
        values["since"] = str(int(selection.since * 1e6))
    return found, values


def _key_columns(job: FoundJob) -> dict[str, str]:
    return {"job": job.job, "incarnation": job.incarnation}
