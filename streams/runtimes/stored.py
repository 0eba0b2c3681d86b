"""The form of a state in its topic: one message for the state of a key without its parts, one for each part.

Each worker that takes a partition over writes under an *epoch* of its own, which is part of the messages' keys. A worker that lost the
partition may write late; under one key, compaction would keep its older state and drop the newer. So both are kept, the
one with more input wins on reading back, and the next worker deletes the other.
"""

import dataclasses
import struct
from dataclasses import dataclass

import msgspec
from backports import zstd

MARKER = "\1"
"""The name in the key of a partition's marker (`marker.py`). No record's key is unprintable."""
LARGEST = 1 << 20
"""Bytes of a message. A state that comes out larger is trimmed."""

_FORMAT = 1
"""Number of the layout of a stored state, its first byte. Another release may use another layout."""
_HEADER = struct.Struct(">B?Qdqd?Q")
"""The format's number and the fields of `StateHeader`."""
_MOST = 64 << 20
"""Bytes of a state, decompressed: far above what `LARGEST` holds, and a bound for a message that would expand without end."""


class UnreadableState(ValueError):
    """Bytes that are no state of this version."""


@dataclass(frozen=True, slots=True)
class StateHeader:
    """The header of a stored state, which can be read without decoding the state.

    Attributes:
        ended: Nothing more is expected of its key.
        progress: Grows with every input included: of two messages of a key, the one with more is newer.
        touched: When it last took in something, by the broker's clock, in seconds since 1970.
        epoch: Of the worker that wrote it.
        born: When it took in its first input, by the broker's clock, in seconds since 1970.
        confirmed: A source that users cannot forge reports its key as going on.
        inputs: Number of inputs that it includes.
    """

    ended: bool
    progress: int
    touched: float
    epoch: int
    born: float = 0.0
    confirmed: bool = False
    inputs: int = 0


@dataclass(frozen=True, slots=True)
class Key:
    """Key of a message of the state topic.

    Attributes:
        name: Whose state; no name holds a NUL.
        part: Which part of it; empty for the state without its parts.
        epoch: Of the worker that wrote it.
    """

    name: str
    part: str
    epoch: int

    def encode(self) -> bytes:
        """Return the message's key."""
        return f"{self.name}\0{self.part}\0{self.epoch}".encode()

    @staticmethod
    def decode(key: bytes) -> "Key":
        """Return what a message is about. Raises `UnreadableState`."""
        try:
            name, part, epoch = key.decode().split("\0")
            return Key(name, part, int(epoch))
        except ValueError as error:
            raise UnreadableState(f"expected a name, a part and an epoch as key, got {key[:80]!r}") from error


def pack(state: msgspec.Struct, header: StateHeader) -> bytes:
    """Return `state` as it is stored: a header and compressed JSON."""
    fields = dataclasses.astuple(header)
    return _HEADER.pack(_FORMAT, *fields) + zstd.compress(msgspec.json.encode(state))


def header(value: bytes) -> StateHeader:
    """Return the header of a stored state. Raises `UnreadableState`."""
    if len(value) < _HEADER.size or value[0] != _FORMAT:
        raise UnreadableState(f"expected a state of format {_FORMAT}, got {value[:16]!r}")
    return StateHeader(*_HEADER.unpack_from(value)[1:])


def unpack(value: bytes) -> bytes:
    """Return the JSON of a stored state. Raises `UnreadableState`."""
    header(value)
    plain = zstd.ZstdDecompressor()
    try:
        state = plain.decompress(memoryview(value)[_HEADER.size :], _MOST)
    except zstd.ZstdError as error:
        raise UnreadableState(f"expected a compressed state: {error}") from error
    if not plain.eof:
        raise UnreadableState(f"expected a whole state of at most {_MOST} bytes, got one that is cut off or larger")
    return state
