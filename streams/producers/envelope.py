"""A message on its way, and its form in a spool.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..producer import Outgoing
from .pipe_records import EVENTS, LINES_LOST, LOGS, PRODUCER, job_event

if TYPE_CHECKING:
    from .spool import Entries, SpoolEntry

TOPICS = (LOGS, EVENTS)
"""Topics that a spool may hold: it belongs to the user of a job, and the sender of what is left in it may have more rights than a pipe."""


class InvalidEntry(ValueError):
    """Bytes that are not an envelope. The message states what was expected and what came."""


class Source(NamedTuple):
    """Origin of an envelope; losses are counted by it. Messages of one `ordering_key` are written in order."""

    job: str
    attempt: int = 0
    node: str = ""
    ordering_key: str = ""


class Envelope:
    """A message on its way.

    Attributes:
        source: Where it comes from.
        message: What to write.
        lines: Lines in it, or samples: what is counted where it is lost.
        done: Called, from any thread, once it is acknowledged, or refused for good. Must be quick and must not raise.
        spool: The spool that also holds it on disk.
        entry: Its entry there.
    """

    __slots__ = ("done", "entry", "lines", "message", "source", "spool")

    def __init__(
        self, source: Source, message: Outgoing, lines: int, done: Callable[[Exception | None], None] | None = None
    ) -> None:
        self.source, self.message, self.lines, self.done = source, message, lines, done
        self.spool: Entries | None = None
        self.entry: SpoolEntry | None = None

    @property
    def size(self) -> int:
        """Bytes in memory, roughly."""
        return len(self.message.value or b"") + 512


def pack(envelope: Envelope) -> bytes:
    """Return `envelope` as a spool entry: a line of JSON that describes it, and its value."""
    head = [*envelope.source, envelope.message.topic, envelope.lines]
    return json.dumps(head).encode() + b"\n" + (envelope.message.value or b"")


def unpack(payload: bytes) -> Envelope:
    """Return the envelope of a spool entry. Its key is its job.

    Raises:
        InvalidEntry: Another release wrote it differently, or it is for a topic that no pipe writes.
    """
    head, _, value = payload.partition(b"\n")
    try:
        # The head of an entry has at most 4,096 bytes.
        job, attempt, node, ordering_key, topic, lines = json.loads(head[:4096])
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidEntry(f"expected the envelope of a pipe, got {payload[:80]!r}") from error
    kinds = [type(each) for each in (job, attempt, node, ordering_key, topic, lines)]
    if kinds != [str, int, str, str, str, int] or topic not in TOPICS:
        raise InvalidEntry(f"expected a message that a pipe may write ({', '.join(TOPICS)}), got {head[:200]!r}")
    return Envelope(
        Source(job, attempt, node, ordering_key), Outgoing(topic, job.encode("utf-8", "replace"), value), lines
    )


def loss(
    source: Source, lines: int, now: float, place: str = "", why: str = "the broker was away and the spool full"
) -> Envelope:
    """Return the record that states, at `now`, that `lines` lines of `source` were given up; one with the same `place` is a repeat."""
    message = job_event(
        id=f"producer/{source.job}/{source.attempt}/{LINES_LOST}/{source.ordering_key}/{place or format(now, '.3f')}",
        job=source.job,
        attempt=source.attempt,
        kind=LINES_LOST,
        time=now,
        scheduler=PRODUCER,
        nodes=[source.node] if source.node else [],
        lines=lines,
        detail=f"{source.ordering_key}: {why}",
    )
    return Envelope(source._replace(ordering_key=f"{source.ordering_key}/lost"), message, 0)
