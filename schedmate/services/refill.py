"""Filling tables of ClickHouse again from Kafka."""

from collections.abc import Mapping, Sequence

from schedmate_records import InvalidRecord, Position, Record
from sinks.clickhouse import ROLLUP, TABLE_OF, ClickHouseWriter
from streams.accept import accept
from streams.kafka import Connection, read_back

TOPICS_OF: Mapping[str, str] = {
    **{table: topic for topic, table in TABLE_OF.items()},
    ROLLUP: "job-metrics",
}
"""Topic whose records fill each table."""


def refill(connection: Connection, group: str, writer: ClickHouseWriter, topic: str, rows: int) -> int:
    """Write what the sink has read of `topic` to ClickHouse again, and return the number of records.

    Records that are in their table already change nothing. What the sink has not committed yet is left to the sink: two writers
    of one record could both find it missing.

    Args:
        connection: How to reach Kafka.
        group: Consumer group of the sink.
        writer: Writer of ClickHouse.
        topic: Topic to read from its beginning.
        rows: Messages of a batch.

    Raises:
        TransportError: Kafka does not answer, or the topic is unknown.
        SinkUnavailable: ClickHouse does not answer.
        SinkRejected: ClickHouse lacks its tables, or refuses the user.
    """
    batch: list[tuple[Position, Record]] = []
    count = 0
    for message in read_back(connection, [topic], until=group):
        try:
            batch.append((message.position, accept(message)))
        except InvalidRecord:
            continue  # the sink has made a dead letter of it
        if len(batch) == rows:
            count += _write(writer, topic, batch)
            batch = []
    return count + _write(writer, topic, batch)


def _write(writer: ClickHouseWriter, topic: str, batch: Sequence[tuple[Position, Record]]) -> int:
    writer.write(batch)
    if topic == "job-metrics":
        # The writer counts the roll-up again where it finds rows: now it finds all of them.
        writer.write(batch)
    return len(batch)
