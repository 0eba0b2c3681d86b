"""Records to bytes and back."""

from functools import cache
from typing import Final, TypeVar

import msgspec

from .base import VERSION, Record
from .user_error import UserError

AnyRecord = TypeVar("AnyRecord", bound=Record)

_encoder = msgspec.json.Encoder()


class InvalidRecord(UserError, ValueError):
    """Bytes that are not a record of the expected type; the message states what was expected and what came."""


@cache
def _decoder(kind: type[AnyRecord]) -> msgspec.json.Decoder[AnyRecord]:
    return msgspec.json.Decoder(kind)


def encode(record: Record) -> bytes:
    """Return `record` as JSON."""
    return _encoder.encode(record)


NOT_JSON: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""Errors of msgspec's decoders for foreign bytes: no JSON, another type, no UTF-8, or nested too deeply."""


def decode(kind: type[AnyRecord], value: bytes) -> AnyRecord:
    """Return the record of type `kind` that `value` holds.

    Raises:
        InvalidRecord: `value` is not JSON, misses a field, has a field of another type, or is of a later version.
    """
    record = decode_any_version(kind, value)
    if not 1 <= record.v <= VERSION:
        raise InvalidRecord(
            f"expected {kind.__name__} of version 1 to {VERSION}, got version {record.v}: upgrade this reader"
        )
    return record


def decode_any_version(kind: type[AnyRecord], value: bytes) -> AnyRecord:
    """Return the record of type `kind` that `value` holds, which may be of a later version; unknown fields are dropped.

    For readers that are upgraded independently of the writers and have no dead letters.

    Raises:
        InvalidRecord: `value` is not JSON, misses a field, or has a field of another type.
    """
    try:
        record: AnyRecord = _decoder(kind).decode(value)
    except NOT_JSON as error:
        raise InvalidRecord(f"expected a {kind.__name__} as JSON, got {value[:80]!r}: {error}") from error
    return record
