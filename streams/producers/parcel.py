"""A message on its way to the broker, and as it stands in a spool."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from records import PRODUCER, EventKind, JobEvent
from streams.rights import ROLES
from streams.transport import Outgoing, outgoing

from .spool import Entry, Spool


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
    """Return the parcel of a spool entry.

    Raises:
        msgspec.DecodeError: Another release wrote it differently, or it is for a topic that no pipe writes: spools belong to the users of
            jobs, and a collector that sends what is left in them has more rights than a pipe.
    """
    stored = msgspec.msgpack.decode(payload, type=_Stored)
    if stored.topic not in ROLES["pipe"].writes:
        raise msgspec.ValidationError(f"expected a message that a pipe may write, got one for {stored.topic!r}")
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
