"""Filling tables of ClickHouse again from Kafka."""

from collections.abc import Iterator, Mapping

from schedmate_records import InvalidRecord, Position, Record
from sinks.clickhouse.rollup import ROLLUP
from sinks.clickhouse.tables import TABLE_OF
from sinks.clickhouse.writer import ClickHouseWriter
from streams.accept import accept
from streams.kafka import Connection, read_back

from .job_lines import MESSAGES, JobLineWriter

Batch = list[tuple[Position, Record]]
_DAY_S = 86_400.0  # the quota is of a day
LINES = "job_lines"
"""The table of lines."""
TOPICS_OF: Mapping[str, str] = {
    **{table: topic for topic, table in TABLE_OF.items()},
    ROLLUP: "job-metrics",
    LINES: "job-logs",
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
    count = 0
    for _, batch in _batches(connection, topic, group, rows):
        writer.write(batch)
        if topic == "job-metrics":
            # The writer counts the roll-up again where it finds rows: now it finds all of them.
            writer.write(batch)
        count += len(batch)
    return count


def refill_lines(connection: Connection, group: str, writer: ClickHouseWriter, quota_mb: float) -> int:
    """Write the lines that the sink has read of `job-logs` to `job_lines` again, and return the number of messages.

    A line counts towards the quota of the day on which it arrived, so that the same lines are left out as before.
    Arguments and exceptions as of `refill`; `quota_mb` is that of `JobLineWriter`.
    """
    arrived = 0.0
    lines = JobLineWriter(writer, quota_mb, clock=lambda: arrived)
    count = 0
    for began, batch in _batches(connection, "job-logs", group, MESSAGES):
        arrived = began
        lines.write(batch)
        count += len(batch)
    return count


def _batches(connection: Connection, topic: str, group: str, rows: int) -> Iterator[tuple[float, Batch]]:
    """Yield what `group` has read of `topic`, `rows` messages of one day at most, each with the arrival of the first of them."""
    batch: Batch = []
    began = 0.0
    for message in read_back(connection, [topic], until=group):
        try:
            record = accept(message)
        except InvalidRecord:
            continue  # the sink has made a dead letter of it
        if batch and (len(batch) == rows or message.time // _DAY_S != began // _DAY_S):
            yield began, batch
            batch = []
        if not batch:
            began = message.time
        batch.append((message.position, record))
    if batch:
        yield began, batch
