"""A message on its way to the broker, and as it stands in a spool."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from records import BY_RECORD, PRODUCER, EventKind, JobEvent, LogChunk
from streams.transport import Outgoing, outgoing

from .spool import Entry, Spool

SPOOLED = (BY_RECORD[LogChunk].name, BY_RECORD[JobEvent].name)
"""The topics that a pipe writes. A spool stands where the user of a job may write: it may speak for nothing else."""


class Source(NamedTuple):
    """Whose lines a parcel holds; losses are counted by it."""

    job: str
    attempt: int = 0
    node: str = ""
    lane: str = ""


@dataclass(slots=True, eq=False)
class Parcel:
    """A message on its way.

    Attributes:
        source: Whose it is. Messages of one `source.lane` are written in order.
        message: What to write.
        lines: Lines in it.
        done: Called, from any thread, once it is acknowledged. Must be quick and must not raise.
        spool: Where it also stands on disk.
        entry: Its entry there.
    """

    source: Source
    message: Outgoing
    lines: int
    done: Callable[[], None] | None = None
    spool: Spool | None = None
    entry: Entry | None = None

    @property
    def size(self) -> int:
        """Bytes in memory, roughly."""
        return len(self.message.value or b"") + 512


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    source: Source
    topic: str
    key: bytes | None
    value: bytes | None
    lines: int


def pack(parcel: Parcel) -> bytes:
    """Return `parcel` as a spool entry."""
    message = parcel.message
    return msgspec.msgpack.encode(_Stored(parcel.source, message.topic, message.key, message.value, parcel.lines))


def unpack(payload: bytes) -> Parcel:
    """Return the parcel of a spool entry. Raises `msgspec.DecodeError` where it is none, or for a topic that no pipe writes."""
    stored = msgspec.msgpack.decode(payload, type=_Stored)
    if stored.topic not in SPOOLED:
        raise msgspec.ValidationError(f"expected an entry for {' or '.join(SPOOLED)}, got one for {stored.topic!r}")
    return Parcel(stored.source, Outgoing(stored.topic, stored.key, stored.value), stored.lines)


def loss(source: Source, lines: int, now: float) -> Parcel:
    """Return the record that says, at `now`, that `lines` lines of `source` were given up."""
    event = JobEvent(
        id=f"producer/{source.job}/{source.attempt}/{EventKind.LINES_LOST}/{source.lane}/{now:.3f}",
        job=source.job,
        attempt=source.attempt,
        kind=EventKind.LINES_LOST,
        time=now,
        scheduler=PRODUCER,
        nodes=[source.node] if source.node else [],
        lines=lines,
        detail=f"{source.lane}: the broker was away and the spool full",
    )
    return Parcel(source._replace(lane=f"{source.lane}/lost"), outgoing(event), 0)
