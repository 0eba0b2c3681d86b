"""The log formats that the cluster stores, and changes to them."""

import time
from collections.abc import Sequence
from contextlib import closing

import msgspec
from clickhouse_connect.driver.client import Client

from schedmate_records import KnownFormat
from sinks.clickhouse.queries import ask
from streams.transport import write_records

from ..approvals import person
from ..assembly import producer_factory
from ..services.sink import clickhouse_reader
from ..settings.settings import Settings

_STORED = (
    "SELECT id, fingerprint, toUnixTimestamp64Micro(time) / 1e6 AS time, author, person, prompt, training, templates, forgotten "
    "FROM known_formats WHERE startsWith(fingerprint, {fingerprint:String}) ORDER BY time"
)


def stored_formats(settings: Settings, fingerprint: str = "") -> list[KnownFormat]:
    """Return the formats in force whose fingerprints begin with `fingerprint`, the oldest first. Raises `SinkUnavailable`."""
    with closing(clickhouse_reader(settings.clickhouse)()) as client:
        return formats_in(client, fingerprint)


def formats_in(client: Client, fingerprint: str = "") -> list[KnownFormat]:
    """Return the formats in force of a database, as `stored_formats` does. Raises as `ask` does."""
    answer = ask(client, _STORED, {"fingerprint": fingerprint})
    rows = (dict(zip(answer.columns, row, strict=True)) for row in answer.rows)
    return [
        msgspec.convert({**row, "templates": msgspec.json.decode(row["templates"])}, KnownFormat, strict=False)
        for row in rows
    ]


def forgotten(record: KnownFormat) -> KnownFormat:
    """Return the record that withdraws `record`."""
    now = max(time.time(), record.time + 1e-3)
    return msgspec.structs.replace(
        record,
        id=f"format/{record.fingerprint}/{person()}/{now:.3f}",
        time=now,
        author=person(),
        person=True,
        templates=[],
        forgotten=True,
    )


def imported(record: KnownFormat) -> KnownFormat:
    """Return `record` as of now, so that it replaces what is stored under its fingerprint."""
    now = time.time()
    return msgspec.structs.replace(record, id=f"format/{record.fingerprint}/{record.author}/{now:.3f}", time=now)


def store(settings: Settings, formats: Sequence[KnownFormat]) -> None:
    """Write formats to their topic, and return once Kafka has them. Raises `TransportError`."""
    with closing(producer_factory(settings)()) as producer:
        write_records(producer, formats)
