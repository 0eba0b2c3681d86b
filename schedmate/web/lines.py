"""The lines around one that was quoted, from Kafka: what else the job printed there."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from processors.new_lines import line_numbers
from schedmate_records import InvalidRecord, LogChunk, NodeLogChunk, Position
from streams.accept import accept
from streams.transport import Message

NEAR: Final = (24, 120, 600)
"""Messages that are read before the one that holds the line, and at most after it: more where those of other jobs are between."""
BEFORE, AFTER = 60, 60
"""Lines shown at most."""
LONGEST: Final = 2_000
"""Letters of a line that are shown."""
GONE: Final = "This line is no longer stored: Kafka keeps lines for a limited time."
TOPICS: Final = ("job-logs", "node-logs")

Chunk = LogChunk | NodeLogChunk
Found = tuple[Position, Chunk]
ReadSpan = Callable[[Position, int], Iterator[Message]]
"""Reads so many messages from a place on. Raises `TransportError`."""


@dataclass(frozen=True)
class Line:
    """A line of a log, or one state of a bar.

    Attributes:
        place: The message that holds it.
        index: Index in the message; None where only the number is known.
        number: Of the line in its stream; 0 where lines are not numbered.
        text: What was printed, cut.
        cited: It was asked for.
    """

    place: Position
    index: int | None
    number: int
    text: str
    cited: bool


@dataclass(frozen=True)
class Excerpt:
    """Lines around one, of the stream that `source` names; `job` is empty for a node's log."""

    source: str
    job: str
    lines: Sequence[Line]

    @property
    def earlier(self) -> Line | None:
        """The line around which earlier ones are shown; None where the one that was asked for is the first."""
        return None if self.lines[0].cited else self.lines[0]

    @property
    def later(self) -> Line | None:
        """The line around which later ones are shown; None where the one that was asked for is the last."""
        return None if self.lines[-1].cited else self.lines[-1]


def asked_lines(read: ReadSpan, request: Request) -> Excerpt:
    """Return the lines around the one that a link names. Raises as `excerpt` does, and `HTTPException` where it names none."""
    return excerpt(read, *asked_place(request))


def asked_place(request: Request) -> tuple[Position, int, int | None]:
    """Return the message, the line and the index that a link names: one of the two. Raises `HTTPException` where it names none."""
    topic = request.query_params.get("topic", "")
    if topic not in TOPICS:
        raise HTTPException(400, f"Expected the topic {' or '.join(TOPICS)}, got {topic[:40]!r}.")
    place = Position(topic, _count(request, "partition"), _count(request, "offset"))
    if "index" in request.query_params:
        return place, 0, _count(request, "index")
    return place, _count(request, "line"), None


def _count(request: Request, name: str) -> int:
    given = request.query_params.get(name, "")
    if not (given.isascii() and given.isdigit() and len(given) < 20 and int(given) < 2**62):
        raise HTTPException(400, f"Expected a number as {name}, got {given[:40]!r}.")
    return int(given)


def excerpt(read: ReadSpan, place: Position, line: int = 0, index: int | None = None) -> Excerpt:
    """Return the lines around one, of the same stream of the same rank.

    Args:
        read: Reads messages.
        place: The message that holds it.
        line: Its number in the stream. Where its producer numbers nothing, the first line of the message is meant.
        index: Index in the message, instead of its number.

    Raises:
        HTTPException: The message or the line is not there (any more).
        TransportError: No broker, or no right to read.
    """
    following, index = _following(read, place, line, index)
    cited = following[0][1]
    lines = [
        Line(found, at, number, text[:LONGEST] + ("…" if len(text) > LONGEST else ""), (found, at) == (place, index))
        for found, chunk in (*_preceding(read, place, cited, BEFORE - index), *following)
        for at, (number, text) in enumerate(zip(_numbers(chunk), chunk.lines, strict=True))
    ]
    middle = next(at for at, each in enumerate(lines) if each.cited)
    shown = lines[max(0, middle - BEFORE) : middle + AFTER + 1]
    return Excerpt(_describe(cited), cited.job if isinstance(cited, LogChunk) else "", shown)


def _following(read: ReadSpan, place: Position, line: int, index: int | None) -> tuple[list[Found], int]:
    """Return the chunk at `place` and those of its stream after it, until `AFTER` lines follow, and the index of the line in the first.

    Raises as `excerpt` does.
    """
    messages = _chunks(read(place, NEAR[-1] + 1))
    first = next(messages, None)
    if first is not None and index is None:
        index = _index(first[1], line)
    if first is None or first[0] != place or index is None or index >= len(first[1].lines):
        raise HTTPException(404, GONE)
    found, count = [first], len(first[1].lines) - index - 1
    while count < AFTER and (more := next(messages, None)) is not None:
        if _stream(more[1]) == _stream(first[1]):
            found.append(more)
            count += len(more[1].lines)
    return found, index


def _preceding(read: ReadSpan, place: Position, cited: Chunk, wanted: int) -> list[Found]:
    """Return the chunks of the stream of `cited` before `place` that hold the last `wanted` lines, as far as it looks back."""
    found: list[Found] = []
    end = place.offset
    for near in NEAR:
        first = max(0, place.offset - near)
        if first == end or sum(len(chunk.lines) for _, chunk in found) >= wanted:
            break
        span = _chunks(read(Position(place.topic, place.partition, first), end - first))
        # A broker begins at what it still keeps, and then goes on for longer.
        before = takewhile(partial(_is_before, end), span)
        found[:0] = [each for each in before if _stream(each[1]) == _stream(cited)]
        end = first
    return found


def _is_before(offset: int, found: Found) -> bool:
    return found[0].offset < offset


def _chunks(messages: Iterable[Message]) -> Iterator[Found]:
    for message in messages:
        try:
            record = accept(message)
        except InvalidRecord:
            continue
        if isinstance(record, Chunk):
            yield message.position, record


def _numbers(chunk: Chunk) -> Sequence[int]:
    return line_numbers(chunk, chunk.first_line) if chunk.first_line else [0] * len(chunk.lines)


def _index(chunk: Chunk, line: int) -> int | None:
    """Return the index of line `line` in `chunk`, of a redrawn bar its last state; None where the chunk does not hold it."""
    if not chunk.first_line:
        return 0 if chunk.lines else None
    return max((at for at, number in enumerate(_numbers(chunk)) if number == line), default=None)


def _stream(chunk: Chunk) -> tuple[object, ...]:
    if isinstance(chunk, LogChunk):
        return chunk.job, chunk.attempt, chunk.rank, chunk.stream
    return chunk.node, chunk.source


def _describe(chunk: Chunk) -> str:
    if isinstance(chunk, NodeLogChunk):
        return f"{chunk.source} log of node {chunk.node}"
    on = f" on {chunk.node}" if chunk.node else ""
    return f"{chunk.stream} of rank {chunk.rank}{on}, attempt {chunk.attempt}"
