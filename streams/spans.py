"""Spans for tracing: the time between a line and what follows from it.

Ids follow from input, as those of records do: each command can compute the trace of a verdict, and a span that is made again
after a crash is the same span.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from schedmate_records import Decision, ErrorType, Failure, Position, Record

CHUNK: Final = "chunk"
VERDICT: Final = "verdict"
"""Spans that last as long as their trace is about a chunk, or a verdict; the others are parts of them."""


class Span(NamedTuple):
    """Some work on something.

    Attributes:
        about: What the trace is about: a verdict's id, or the position of a chunk. The trace's id follows from it.
        name: What was done.
        start: In seconds since 1970.
        end: In seconds since 1970; 0: it goes on.
        within: Name of the span that this is a part of; empty: it is the whole.
        of: Distinguishes spans of one name: the id of the record that was worked on, where there may be several.
        attributes: What else is known. Never text of jobs.
    """

    about: str
    name: str
    start: float
    end: float = 0.0
    within: str = ""
    of: str = ""
    attributes: Mapping[str, str | int] = {}


Spans = Callable[[Span], None]
"""Takes spans that have ended."""


def trace_id(about: str) -> int:
    """Return the id of the trace about something: 128 bits."""
    return int.from_bytes(hashlib.blake2b(about.encode(), digest_size=16).digest())


def span_id(about: str, name: str, of: str = "") -> int:
    """Return the id of a span of such a trace: 64 bits."""
    return int.from_bytes(hashlib.blake2b(f"{about}\n{name}\n{of}".encode(), digest_size=8).digest())


def about_chunk(place: Position) -> str:
    """Return what the trace of a chunk is about."""
    return f"{place.topic}/{place.partition}/{place.offset}"


def about_verdict(record: Record) -> str:
    """Return the id of the verdict that a record is, or a decision that follows from one. Empty: no trace is about it."""
    if isinstance(record, Failure):
        return record.id if record.root is not None and record.error_type is not ErrorType.NONE else ""
    return record.cause_id if isinstance(record, Decision) and record.cause_id.startswith("failure/") else ""
