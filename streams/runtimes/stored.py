"""How a state stands in its topic: one message for the state of a key without its parts, one for each part."""

import struct
from dataclasses import dataclass

import msgspec
import zstandard

MARKER = b"\0"
"""Key of the message that says from where a partition's input is read again (`marker.py`). No name holds a NUL."""
LARGEST = 1 << 20
"""Bytes of a message. A state that comes out larger is trimmed."""

_FORMAT = 1
_HEADER = struct.Struct(">B?Qd")
_MOST = 64 << 20
_compress = zstandard.ZstdCompressor(level=3).compress
_decompress = zstandard.ZstdDecompressor().decompress


class UnreadableState(ValueError):
    """Bytes that are no state of this version."""


@dataclass(frozen=True, slots=True)
class Header:
    """What can be told of a stored state without decoding it.

    Attributes:
        ended: Nothing more is expected of its key.
        progress: Grows with every input included: of two messages of a key, the one with more is newer.
        touched: When it last took in something, by the worker's clock, in seconds since 1970.
    """

    ended: bool
    progress: int
    touched: float


def message_key(name: str, part: str | None = None) -> bytes:
    """Return the key of the message that holds the state of `name`, or its `part`."""
    return name.encode() if part is None else f"{name}\0{part}".encode()


def names(key: bytes) -> tuple[str, str | None]:
    """Return whose state a message of `key` holds, and which part of it; None for the state without its parts."""
    name, found, part = key.decode().partition("\0")
    return name, part if found else None


def pack(state: msgspec.Struct, header: Header) -> bytes:
    """Return `state` as it is stored: a header and compressed JSON."""
    return _HEADER.pack(_FORMAT, header.ended, header.progress, header.touched) + _compress(msgspec.json.encode(state))


def header(value: bytes) -> Header:
    """Return the header of a stored state. Raises `UnreadableState`."""
    if len(value) < _HEADER.size or value[0] != _FORMAT:
        raise UnreadableState(f"expected a state of format {_FORMAT}, got {value[:16]!r}")
    _, ended, progress, touched = _HEADER.unpack_from(value)
    return Header(ended, progress, touched)


def unpack(value: bytes) -> bytes:
    """Return the JSON of a stored state. Raises `UnreadableState`."""
    header(value)
    try:
        return _decompress(memoryview(value)[_HEADER.size :], max_output_size=_MOST)
    except zstandard.ZstdError as error:
        raise UnreadableState(f"expected a compressed state: {error}") from error
