"""What the pass-through tells the shipping process, as bytes in a pipe between the two.

A frame is a head (kind, stream, arrival time, length) and a payload: the bytes that were read; for a gap, how many bytes and newlines
nobody kept; for the end of the job, its exit status.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

DATA, GAP, END = 0, 1, 2

_HEAD = struct.Struct("<BBdI")
_GAP = struct.Struct("<QQ")
_STATUS = struct.Struct("<i")

SAME_SECONDS = 0.001
"""Reads of one stream that arrived within this time become one: arrival is kept in milliseconds."""


class Block(NamedTuple):
    """Bytes of one stream that arrived together."""

    stream: int
    time: float
    data: bytes


class Gap(NamedTuple):
    """Bytes of one stream, with so many newlines in them, that nobody kept."""

    stream: int
    time: float
    size: int
    newlines: int


class End(NamedTuple):
    """The job has ended: `status` is its exit code, -N where signal N killed it, None where nobody knows."""

    time: float
    status: int | None


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


class FrameReader:
    """Turns the bytes of the pipe back into blocks, gaps and the end, however they were cut into reads."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Block | Gap | End]:
        """Yield what `data` completes, joining blocks of one stream that arrived together."""
        if self._rest:
            data = self._rest + data
        at, end = 0, len(data)
        stream, time = -1, 0.0
        parts: list[bytes] = []
        while end - at >= _HEAD.size:
            kind, which, arrived, size = _HEAD.unpack_from(data, at)
            start = at + _HEAD.size
            if end - start < size:
                break
            at = start + size
            if parts and (kind != DATA or which != stream or not 0 <= arrived - time < SAME_SECONDS):
                yield Block(stream, time, b"".join(parts))
                parts = []
            if kind == GAP:
                yield Gap(which, arrived, *_GAP.unpack_from(data, start))
                continue
            if kind == END:
                yield End(arrived, _STATUS.unpack_from(data, start)[0] if size else None)
                continue
            if not parts:
                stream, time = which, arrived
            parts.append(data[start:at])
        if parts:
            yield Block(stream, time, b"".join(parts))
        self._rest = data[at:]
