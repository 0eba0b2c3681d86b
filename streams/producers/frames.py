"""Frames that the pass-through writes to the shipping process through a pipe.

A frame is a head (kind, stream, arrival time, length) and a payload: the bytes that were read; for a gap, how many bytes and newlines
were not kept; for the end of the job, its exit status. The last frame states that nothing follows.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

DATA, GAP, END, CLOSE = 0, 1, 2, 3

_HEAD = struct.Struct("<BBdI")
_GAP = struct.Struct("<QQ")
_STATUS = struct.Struct("<i")


class Block(NamedTuple):
    """Bytes of one stream that arrived together."""

    stream: int
    time: float
    data: bytes


class Gap(NamedTuple):
    """Bytes of one stream, with so many newlines in them, that were not kept."""

    stream: int
    time: float
    size: int
    newlines: int


class End(NamedTuple):
    """The job has ended: `status` is its exit code, -N where signal N killed it, None where it is not known."""

    time: float
    status: int | None


class Close(NamedTuple):
    """Nothing follows."""


class InvalidFrames(ValueError):
    """Bytes that no pass-through writes."""


def block(stream: int, time: float, data: bytes) -> tuple[bytes, bytes]:
    """Return a block as a head and a payload, to be written one after the other."""
    return _HEAD.pack(DATA, stream, time, len(data)), data


def gap(stream: int, time: float, size: int, newlines: int) -> tuple[bytes, bytes]:
    """Return a gap as a head and a payload."""
    return _HEAD.pack(GAP, stream, time, _GAP.size), _GAP.pack(size, newlines)


def end(time: float, status: int | None) -> tuple[bytes, bytes]:
    """Return the end of the job as a head and a payload."""
    payload = b"" if status is None else _STATUS.pack(status)
    return _HEAD.pack(END, 0, time, len(payload)), payload


def close() -> tuple[bytes, bytes]:
    """Return the last frame as a head and a payload."""
    return _HEAD.pack(CLOSE, 0, 0.0, 0), b""


class FrameReader:
    """Turns the bytes of the pipe back into frames, however they were cut into reads.

    Attributes:
        position: Bytes of the stream of frames that were read.
    """

    def __init__(self, position: int = 0) -> None:
        self.position = position
        self._rest = b""

    def jump(self, position: int) -> None:
        """Go on at `position`, where a frame begins; one that is incomplete is dropped."""
        self.position, self._rest = position, b""

    def feed(self, data: bytes) -> Iterator[Block | Gap | End | Close]:
        """Yield what `data` completes, joining blocks of one stream that arrived together. Raises `InvalidFrames`."""
        self.position += len(data)
        if self._rest:
            data = self._rest + data
        at, end = 0, len(data)
        self._rest = b""
        stream, time = -1, 0.0
        parts: list[bytes] = []
        while end - at >= _HEAD.size:
            kind, which, arrived, size = _HEAD.unpack_from(data, at)
            # A read of the pass-through is smaller than 1 MB.
            if kind > CLOSE or which > 1 or size > (1 << 20):
                raise InvalidFrames(f"expected a frame of a pipe, got {data[at : at + _HEAD.size]!r}")
            start = at + _HEAD.size
            if end - start < size:
                break
            at = start + size
            # Arrival is kept in milliseconds: reads of one stream within one become one.
            if parts and (kind != DATA or which != stream or not 0 <= arrived - time < 0.001):
                yield Block(stream, time, b"".join(parts))
                parts = []
            if kind != DATA:
                yield _special(kind, which, arrived, data[start:at])
                continue
            if not parts:
                stream, time = which, arrived
            parts.append(data[start:at])
        if parts:
            yield Block(stream, time, b"".join(parts))
        self._rest = data[at:]


def _special(kind: int, stream: int, time: float, payload: bytes) -> Gap | End | Close:
    """Return a frame that is no block. Raises `InvalidFrames`."""
    if kind == CLOSE:
        return Close()
    try:
        if kind == GAP:
            return Gap(stream, time, *_GAP.unpack(payload))
        return End(time, _STATUS.unpack(payload)[0] if payload else None)
    except struct.error as error:
        raise InvalidFrames(f"expected a frame of a pipe, got {payload[:80]!r}") from error
