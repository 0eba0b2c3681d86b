"""Spans of what a worker does: of every verdict that a line explains, and of a share of all chunks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schedmate_records import Failure, Position, Record
from schedmate_records.log_chunk import Lines

from ..spans import CHUNK, VERDICT, Span, Spans, about_chunk, about_verdict, trace_id
from ..transport import Message


@dataclass(frozen=True)
class Tracing:
    """Makes spans.

    Attributes:
        spans: Takes them.
        share: Of the chunks that are traced, 0 to 1. Which, follows from where they stand.
    """

    spans: Spans
    share: float = 0.0

    def begin_spans(self, taken: Iterable[tuple[Message, Record]], made: Iterable[Record]) -> list[Span]:
        """Return the spans of a batch: those without an end last until it is acknowledged."""
        chunks = {message.position: (message, record) for message, record in taken if isinstance(record, Lines)}
        found: list[Span] = []
        for place, (message, chunk) in chunks.items():
            about = about_chunk(place)
            if self.share and trace_id(about) < self.share * 2**128:
                arrival = chunk.last_arrival
                found += [
                    Span(about, CHUNK, arrival, attributes=_place(place)),
                    *_parts(about, CHUNK, arrival, message),
                ]
        for verdict in made:
            if isinstance(verdict, Failure) and (about := about_verdict(verdict)):
                assert verdict.root is not None
                place = Position(verdict.root.topic, verdict.root.partition, verdict.root.offset)
                found.append(Span(about, VERDICT, verdict.time, attributes=_what(verdict) | _place(place)))
                if place in chunks:
                    found += _parts(about, VERDICT, verdict.time, chunks[place][0])
        return found

    def ended(self, begun: Sequence[Span], now: float) -> None:
        """Hand on the spans of a batch that was acknowledged at `now`."""
        for span in begun:
            self.spans(span if span.end else span._replace(end=now))


def _parts(about: str, whole: str, arrival: float, message: Message) -> list[Span]:
    # `ship` ends at the message's time stamp; `work` is the time in Kafka and in the worker, up to the acknowledgement of the results.
    return [Span(about, "ship", arrival, message.time, whole), Span(about, "work", message.time, within=whole)]


def _place(place: Position) -> dict[str, str | int]:
    return {"topic": place.topic, "partition": place.partition, "offset": place.offset}


def _what(verdict: Failure) -> dict[str, str | int]:
    return {
        "job": verdict.job,
        "attempt": verdict.attempt,
        "revision": verdict.revision,
        "error_type": verdict.error_type.value,
        "source": verdict.source.value,
    }
