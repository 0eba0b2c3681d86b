"""The lines around one that was quoted, from Kafka: what else the job printed there."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from records import InvalidRecord, LogChunk, NodeLogChunk, Position
from streams.accept import accept
from streams.transport import Message

NEAR: Final = 24
"""Messages before and after the one that holds the line: those of other jobs stand between."""
BEFORE, AFTER = 60, 60
"""Lines shown at most."""
LONGEST: Final = 2_000
"""Letters of a line that are shown."""
LARGEST: Final = 2**62
TOPICS: Final = ("job-logs", "node-logs")

ReadSpan = Callable[[Position, int], Iterator[Message]]
"""Reads so many messages from a place on. Raises `TransportError`."""


@dataclass(frozen=True)
class Line:
    """A line of a log; `cited`: the one that was asked for."""

    place: Position
    number: int
    text: str
    cited: bool


@dataclass(frozen=True)
class Excerpt:
    """Lines around one, of the stream that `source` names; `job` is empty for a node's log."""

    source: str
    job: str
    lines: Sequence[Line]


def asked_place(request: Request) -> tuple[Position, int]:
    """Return the place and the line that a link names. Raises `HTTPException` where it names none."""
    topic = request.query_params.get("topic", "")
    if topic not in TOPICS:
        raise HTTPException(400, f"Expected the topic {' or '.join(TOPICS)}, got {topic[:40]!r}.")
    partition, offset, line = (_count(request, name) for name in ("partition", "offset", "line"))
    return Position(topic, partition, offset), line


def _count(request: Request, name: str) -> int:
    given = request.query_params.get(name, "")
    if not (given.isascii() and given.isdigit() and len(given) < 20 and int(given) < LARGEST):
        raise HTTPException(400, f"Expected a number as {name}, got {given[:40]!r}.")
    return int(given)


def excerpt(read: ReadSpan, place: Position, line: int) -> Excerpt:
    """Return the lines around line `line` of the message at `place`, of the same stream of the same rank.

    Raises:
        HTTPException: The message or the line is not there (any more).
        TransportError: No broker, or no right to read.
    """
    first = Position(place.topic, place.partition, max(0, place.offset - NEAR))
    chunks = [(message.position, chunk) for message in read(first, 2 * NEAR + 1) if (chunk := _chunk(message))]
    cited = next((chunk for found, chunk in chunks if found == place), None)
    if cited is None or line >= len(cited.lines):
        raise HTTPException(404, "This line is not on record any more: Kafka keeps lines for a time only.")
    same = [(found, chunk) for found, chunk in chunks if _stream(chunk) == _stream(cited)]
    lines = [
        Line(found, number, text[:LONGEST] + ("…" if len(text) > LONGEST else ""), (found, number) == (place, line))
        for found, chunk in same
        for number, text in enumerate(chunk.lines)
    ]
    middle = next(index for index, each in enumerate(lines) if each.cited)
    shown = lines[max(0, middle - BEFORE) : middle + AFTER + 1]
    return Excerpt(_named(cited), cited.job if isinstance(cited, LogChunk) else "", shown)


def _chunk(message: Message) -> LogChunk | NodeLogChunk | None:
    try:
        record = accept(message)
    except InvalidRecord:
        return None
    return record if isinstance(record, LogChunk | NodeLogChunk) else None


def _stream(chunk: LogChunk | NodeLogChunk) -> tuple[object, ...]:
    if isinstance(chunk, LogChunk):
        return chunk.job, chunk.attempt, chunk.rank, chunk.stream
    return chunk.node, chunk.source


def _named(chunk: LogChunk | NodeLogChunk) -> str:
    if isinstance(chunk, NodeLogChunk):
        return f"{chunk.source} log of node {chunk.node}"
    on = f" on {chunk.node}" if chunk.node else ""
    return f"{chunk.stream} of rank {chunk.rank}{on}, attempt {chunk.attempt}"
