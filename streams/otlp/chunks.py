"""A request's log records as chunks of the jobs that their attributes name.

A request holds lines of whatever its collector gathered: of many jobs, under a key that is none of theirs. So the worker that reads it
writes each job's lines as chunks of their own under the job's key, where all else that is known of the job is.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from schedmate_records import InvalidRecord, LogChunk, check

from ..transport import Message
from .request import log_records

JOB: Final = ("job", "job_id", "slurm.job.id", "slurm_job_id")


MOST_LINES: Final = 100_000
"""Lines of one request at most."""
MOST_JOBS: Final = 1000
"""Jobs of one request at most: far more than print within a collector's batch, and a bound for what one message can lead to."""
_NUMBERS: Final = 1 << 17
"""Numbers that each request has for its pieces: more than it may hold lines."""
_LONGEST: Final = 32 << 10
"""Lines and characters of a chunk, and characters of a piece, at most: those of pipes."""


class LineSource(NamedTuple):
    """Job and rank of lines."""

    job: str
    attempt: int
    node: str
    rank: int
    stream: str


@dataclass
class Split:
    """The content of a request. `refused` counts the records that were left out, by reason; empty where none was."""

    chunks: list[LogChunk] = field(default_factory=list)
    refused: str = ""


class _Piece(NamedTuple):
    number: int
    text: str
    time: float
    goes_on: bool


def split(message: Message) -> Split:
    """Return the chunks of a request, those of one source in order.

    Pieces are numbered by the request's offset: made again after a crash, they are known as repeats.

    Raises:
        InvalidRecord: Nothing of it can be used.
    """
    whose = _only_job(message.key)
    pieces: dict[LineSource, list[_Piece]] = {}
    jobs: set[str] = set()
    number, refused, reason = message.position.offset * _NUMBERS, 0, ""
    for record in log_records(message.value):
        try:
            source = _source(record.attributes, whose)
        except InvalidRecord as error:
            refused, reason = refused + 1, reason or str(error)
            continue
        for text, goes_on in _pieces(record.body):
            number += 1
            if number % _NUMBERS > MOST_LINES:
                raise InvalidRecord(f"expected at most {MOST_LINES:,} lines in an OpenTelemetry request, got more")
            jobs.add(source.job)
            if len(jobs) > MOST_JOBS:
                raise InvalidRecord(
                    f"expected lines of at most {MOST_JOBS:,} jobs in an OpenTelemetry request, got more: "
                    "set the job's id as the attribute, and no other value"
                )
            pieces.setdefault(source, []).append(_Piece(number, text, record.time or message.time, goes_on))
    if refused and not pieces:
        raise InvalidRecord(reason)
    chunks = [chunk for source, found in pieces.items() for chunk in _chunks(message, source, found)]
    return Split(chunks, f"{refused} of its log records were left out: {reason}" if refused else "")


def _only_job(key: bytes | None) -> str:
    """Return the only job that a message may belong to: its key, where that is text. A hash of attributes is none."""
    text = (key or b"").decode(errors="replace")
    return text if text.isprintable() and "\ufffd" not in text else ""


def _source(attributes: Mapping[str, Any], whose: str) -> LineSource:
    job = _text(attributes, JOB) or whose
    if not job:
        raise InvalidRecord(
            f"expected the job's id in an attribute {' or '.join(JOB)}, of the resource or of the log record; got none"
        )
    if whose and job != whose:
        raise InvalidRecord(f"expected lines of job {whose!r}, the message's key, got some of {job[:200]!r}")
    stream = _text(attributes, ("log.iostream", "stream"))
    source = LineSource(
        job=job,
        attempt=_count(attributes, ("attempt", "slurm.restart.count")),
        node=_text(attributes, ("host.name", "k8s.node.name", "node", "host")),
        rank=_count(attributes, ("rank", "slurm.proc.id")),
        stream={"stdout": "stdout", "stderr": "stderr", "out": "stdout", "err": "stderr"}.get(stream, "stdout"),
    )
    check(LogChunk(**source._asdict(), lines=[], time=0.0))
    return source


def _text(attributes: Mapping[str, Any], names: tuple[str, ...]) -> str:
    found = (attributes[name] for name in names if name in attributes)
    return next((str(each) for each in found if isinstance(each, str | int) and each != ""), "")


def _count(attributes: Mapping[str, Any], names: tuple[str, ...]) -> int:
    text = _text(attributes, names) or "0"
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidRecord(f"expected a number as {' or '.join(names)}, got {text[:40]!r}")
    return int(text)


def _pieces(body: str) -> Iterator[tuple[str, bool]]:
    r"""Yield the pieces of a body and, of each, whether the next one continues it.

    A piece is a line, a redraw of a progress bar with its `\r`, or a part of either that is too long for a chunk.
    """
    for line in _lines(body):
        # A `\r` with nothing before it redraws nothing.
        for piece in re.findall(r"[^\r]+\r?", line) if line else ("",):
            parts = [piece[at : at + _LONGEST] for at in range(0, len(piece), _LONGEST)] or [""]
            yield from ((part, place < len(parts) - 1) for place, part in enumerate(parts))


def _lines(body: str) -> list[str]:
    lines = re.split(r"\r?\n", body)
    return lines if lines[-1] else lines[:-1]


def _chunks(message: Message, source: LineSource, pieces: list[_Piece]) -> Iterator[LogChunk]:
    """Yield chunks of consecutive numbers."""
    held: list[_Piece] = []
    size = 0
    for piece in pieces:
        # A chunk holds at most 500 lines and about 64 KB, as chunks of job logs do.
        if held and (len(held) == 500 or size > (64 << 10) or piece.number != held[-1].number + 1):
            yield _chunk(message, source, held)
            held, size = [], 0
        held.append(piece)
        size += len(piece.text)
    if held:
        yield _chunk(message, source, held)


def _chunk(message: Message, source: LineSource, pieces: list[_Piece]) -> LogChunk:
    first = pieces[0].time
    after, latest = [], 0
    for piece in pieces:  # collectors set times by what they parsed: one that goes back counts as at once
        # At most six days lie between the first and the last piece of a chunk.
        latest = max(latest, min(int((piece.time - first) * 1000), 6 * 86_400_000))
        after.append(latest)
    chunk = LogChunk(
        **source._asdict(),
        producer=f"otlp/{message.position.partition}",
        first_piece=pieces[0].number,
        lines=[piece.text for piece in pieces],
        time=first,
        after_ms=after if latest else [],
        cut=[place for place, piece in enumerate(pieces) if piece.goes_on],
    )
    check(chunk)
    return chunk
