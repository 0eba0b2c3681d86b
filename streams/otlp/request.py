"""An export request's log records, the same from `otlp_json` and from `otlp_proto`."""

from collections import ChainMap
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from schedmate_records import NOT_JSON, InvalidRecord
from schedmate_records.bounds import LATEST

from .recognise import is_json

LARGEST: Final = 2 << 20
"""Bytes of a request at most. An empty log record takes two bytes on the wire and a hundred in memory."""


class LogRecord(NamedTuple):
    """One log record: its attributes and its resource's, its body as text, and when it was made (seconds since 1970, 0: not known)."""

    attributes: Mapping[str, Any]
    body: str
    time: float


def log_records(value: bytes) -> Iterator[LogRecord]:
    """Yield the log records of a request. Raises `InvalidRecord` where it cannot be read."""
    if len(value) > LARGEST:
        raise InvalidRecord(
            f"expected an OpenTelemetry request of at most {LARGEST:,} bytes, got {len(value):,}: "
            "lower producer.max_message_bytes of the collector's Kafka exporter"
        )
    try:
        yield from _of_json(value) if is_json(value) else _of_protobuf(value)
    except RecursionError:
        raise InvalidRecord("expected attributes and bodies of a few levels, got deeper ones") from None


class _Value(msgspec.Struct, rename="camel"):
    string_value: str | None = None
    bool_value: bool | None = None
    int_value: int | str | None = None
    double_value: float | str | None = None
    bytes_value: str | None = None
    array_value: "_Array | None" = None
    kvlist_value: "_Pairs | None" = None


class _Array(msgspec.Struct):
    values: list[_Value] = []


class _Attribute(msgspec.Struct):
    key: str
    value: _Value = msgspec.field(default_factory=_Value)


class _Pairs(msgspec.Struct):
    values: list[_Attribute] = []


class _Record(msgspec.Struct, rename="camel"):
    time_unix_nano: int | str = 0
    observed_time_unix_nano: int | str = 0
    body: _Value | None = None
    attributes: list[_Attribute] = []


class _Scope(msgspec.Struct, rename="camel"):
    log_records: list[_Record] = []


class _Resource(msgspec.Struct):
    attributes: list[_Attribute] = []


class _ResourceLogs(msgspec.Struct, rename="camel"):
    resource: _Resource = msgspec.field(default_factory=_Resource)
    scope_logs: list[_Scope] = []


class _Request(msgspec.Struct, rename="camel"):
    resource_logs: list[_ResourceLogs] = []


def _of_json(value: bytes) -> Iterator[LogRecord]:
    try:
        request = msgspec.json.decode(value, type=_Request)
    except NOT_JSON as error:
        raise InvalidRecord(f"expected an OpenTelemetry request as JSON: {error}") from error
    for resource in request.resource_logs:
        shared = {each.key: _plain(each.value) for each in resource.resource.attributes}
        for scope in resource.scope_logs:
            for one in scope.log_records:
                own = {each.key: _plain(each.value) for each in one.attributes}
                body = "" if one.body is None else _text(_plain(one.body))
                time = _seconds(one.time_unix_nano) or _seconds(one.observed_time_unix_nano)
                yield LogRecord(ChainMap(own, shared), body, time)


def _plain(value: _Value) -> Any:
    if value.array_value is not None:
        return [_plain(each) for each in value.array_value.values]
    if value.kvlist_value is not None:
        return {each.key: _plain(each.value) for each in value.kvlist_value.values}
    known = (value.string_value, value.bool_value, value.int_value, value.double_value, value.bytes_value)
    return next((each for each in known if each is not None), None)


def _of_protobuf(value: bytes) -> Iterator[LogRecord]:
    try:
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
    except ModuleNotFoundError as error:
        raise InvalidRecord(
            "expected encoding otlp_json, got otlp_proto, which this worker cannot read: "
            "set logs.encoding of the collector's Kafka exporter, or run `pip install '.[otel]'` in the worker's checkout"
        ) from error
    request = LogsData()
    try:
        request.ParseFromString(value)
    except DecodeError as error:
        raise InvalidRecord(f"expected an OpenTelemetry request as protobuf: {error}") from error
    for resource in request.resource_logs:
        shared = {each.key: _unpacked(each.value) for each in resource.resource.attributes}
        for scope in resource.scope_logs:
            for one in scope.log_records:
                own = {each.key: _unpacked(each.value) for each in one.attributes}
                time = _seconds(one.time_unix_nano) or _seconds(one.observed_time_unix_nano)
                yield LogRecord(ChainMap(own, shared), _text(_unpacked(one.body)), time)


def _unpacked(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_unpacked(each) for each in value.array_value.values]
    if kind == "kvlist_value":
        return {each.key: _unpacked(each.value) for each in value.kvlist_value.values}
    return None if kind is None else getattr(value, kind)


def _text(body: Any) -> str:
    """Return a body as a line: text as it is, anything else as JSON."""
    if body is None:
        return ""
    return body if isinstance(body, str) else msgspec.json.encode(body).decode()


def _seconds(nanoseconds: int | str) -> float:
    """Return seconds since 1970; 0 for what is no time: one program's clock must not spoil the lines of all others in a request."""
    text = str(nanoseconds)
    seconds = int(text) / 1e9 if text.isascii() and text.isdigit() and len(text) < 21 else 0.0
    return seconds if seconds <= LATEST else 0.0
