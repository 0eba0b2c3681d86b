"""Recognises an export request of OpenTelemetry's logs on `job-logs` by its first bytes."""

import re
from typing import Final

_RESOURCE_LOGS: Final = b"\n"
"""First byte in protobuf: field 1, of a length that follows. A line of text does not begin with a newline."""


def is_otlp(value: bytes) -> bool:
    """Return whether `value` is an export request of logs, as `otlp_json` or as `otlp_proto`. Takes constant time."""
    return is_json(value) or _is_protobuf(value)


def is_json(value: bytes) -> bool:
    """Return whether `value` is such a request as `otlp_json`."""
    # 128 bytes hold the first name of a request.
    return value[:1] in (b"{", b" ") and re.match(rb'\s*\{\s*"resourceLogs"\s*:\s*\[', value[:128]) is not None


def _is_protobuf(value: bytes) -> bool:
    if value[:1] != _RESOURCE_LOGS:
        return False
    start, end = _field(value, 1, len(value))
    # The fields of the structure begin with these bytes: resource, scopes, the address of a schema.
    if end - start < 2 or value[start] not in (0x0A, 0x12, 0x1A) or value[end : end + 1] not in (b"", _RESOURCE_LOGS):
        return False
    return _field(value, start + 1, end) != (0, 0)


def _field(value: bytes, at: int, limit: int) -> tuple[int, int]:
    """Return where the field whose length is at `at` begins and ends; (0, 0) where it goes beyond `limit`."""
    length = shift = 0
    for place in range(at, min(at + 4, limit)):
        length |= (value[place] & 0x7F) << shift
        shift += 7
        if value[place] < 0x80:
            end = place + 1 + length
            return (place + 1, end) if end <= limit else (0, 0)
    return 0, 0
