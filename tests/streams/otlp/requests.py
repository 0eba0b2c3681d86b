"""Export requests of logs as an OpenTelemetry collector's Kafka exporter writes them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, LogsData, ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from schedmate_records import Position
from streams.transport import Message

Sent = Sequence[tuple[Mapping[str, Any], Sequence[tuple[Mapping[str, Any], Any, float]]]]
"""Of each resource its attributes, and of each record attributes, body and time."""


def request(sent: Sent) -> LogsData:
    return LogsData(
        resource_logs=[
            ResourceLogs(
                resource=Resource(attributes=pairs(shared)),
                scope_logs=[
                    ScopeLogs(
                        log_records=[
                            LogRecord(time_unix_nano=int(time * 1e9), body=any_value(body), attributes=pairs(own))
                            for own, body, time in records
                        ]
                    )
                ],
            )
            for shared, records in sent
        ]
    )


def as_protobuf(sent: Sent) -> bytes:
    return request(sent).SerializeToString()


def as_json(sent: Sent) -> bytes:
    """The collector's own marshaller: names in camel case, 64-bit numbers as text, no spaces."""
    resources = [
        {
            "resource": {"attributes": json_pairs(shared)},
            "scopeLogs": [
                {
                    "scope": {},
                    "logRecords": [
                        {
                            "timeUnixNano": str(int(time * 1e9)),
                            "body": json_value(body),
                            "attributes": json_pairs(own),
                            "traceId": "",
                            "spanId": "",
                        }
                        for own, body, time in records
                    ],
                }
            ],
        }
        for shared, records in sent
    ]
    return json.dumps({"resourceLogs": resources}, separators=(",", ":")).encode()


def message(value: bytes, key: bytes | None = None, offset: int = 5, partition: int = 0) -> Message:
    return Message(Position("job-logs", partition, offset), key, value, 12.5)


def pairs(given: Mapping[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=name, value=any_value(value)) for name, value in given.items()]


def any_value(value: Any) -> AnyValue:
    known = AnyValue()
    if isinstance(value, str):
        known.string_value = value
    elif isinstance(value, int):
        known.int_value = value
    elif isinstance(value, Mapping):
        known.kvlist_value.values.extend(pairs(value))
    return known


def json_pairs(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": json_value(value)} for name, value in given.items()]


def json_value(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": json_pairs(value)}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}
