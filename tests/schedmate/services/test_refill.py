"""A table that somebody dropped is filled again from Kafka, without what the sink has not taken yet."""

import time

import pytest

from schedmate.services.refill import refill, refill_lines
from schedmate_records import LogChunk, encode
from sinks.clickhouse.migrate import migrate
from sinks.clickhouse.writer import ClickHouseWriter
from streams.kafka import KafkaConsumer, KafkaProducer
from streams.transport import Outgoing
from tests.servers.kafka import Kafka
from tests.sinks.conftest import Embedded, embedded
from tests.sinks.made import metric

__all__ = ["embedded"]

pytestmark = pytest.mark.kafka

JOB = "refilled"
TAKEN, WAITING = 8, 3


@pytest.fixture
def taken(kafka: Kafka) -> str:
    """The group of a sink that has committed the first messages of one partition, and not the others."""
    producer = KafkaProducer(kafka.connection)

    def send(steps: range) -> None:
        for step in steps:
            _, record = metric(step, JOB)
            producer.send(Outgoing("job-metrics", JOB.encode(), encode(record))).result(30)

    group = "refilled-sink"
    send(range(TAKEN))
    with KafkaConsumer(kafka.connection, group, ["job-metrics"]) as consumer:
        read = 0
        while read < TAKEN:
            read += sum(message.key == JOB.encode() for message in consumer.poll(1.0))
        assert consumer.commit()
    send(range(TAKEN, TAKEN + WAITING))
    producer.close()
    return group


def sent_lines(kafka: Kafka, job: str, chunks: int) -> str:
    """Send chunks of a hundred lines, and return the group of a sink that has committed them."""
    producer = KafkaProducer(kafka.connection)
    for number in range(chunks):
        first = number * 100 + 1
        lines = [f"step {step} {'x' * 80}" for step in range(first, first + 100)]
        chunk = LogChunk(
            job=job, time=time.time(), lines=lines, producer="p", seq=number, first_line=first, first_piece=first
        )
        producer.send(Outgoing("job-logs", job.encode(), encode(chunk))).result(30)
    producer.close()
    group = f"{job}-lines"
    with KafkaConsumer(kafka.connection, group, ["job-logs"]) as consumer:
        read = 0
        while read < chunks:
            read += sum(message.key == job.encode() for message in consumer.poll(1.0))
        assert consumer.commit()
    return group


def test_lines_are_filled_again_and_leave_out_what_the_quota_left_out(kafka: Kafka, embedded: Embedded) -> None:
    job = f"lines-{time.time()}"
    group = sent_lines(kafka, job, 5)
    writer = ClickHouseWriter(embedded.connect)
    for _ in range(2):
        refill_lines(kafka.connection, group, writer, quota_mb=0.03)  # three chunks
        asked = f"FROM job_lines FINAL WHERE job = '{job}'"
        stored = embedded.one(f"SELECT groupArray(line) FROM (SELECT line {asked} AND omitted = 0 ORDER BY line)")
        assert stored == list(range(1, 301))
        assert embedded.one(f"SELECT sum(omitted) {asked}") == 200
    embedded.client.command("DROP TABLE job_lines")
    migrate(embedded.client)
    refill_lines(kafka.connection, group, writer, quota_mb=1.0)
    assert embedded.one(f"SELECT count() {asked}") == 500
    writer.close()


def test_a_dropped_table_is_filled_again(kafka: Kafka, embedded: Embedded, taken: str) -> None:
    writer = ClickHouseWriter(embedded.connect)
    writer.write([metric(step, JOB) for step in range(2)])
    embedded.client.command("DROP TABLE job_metrics")
    migrate(embedded.client)
    for _ in range(2):
        refill(kafka.connection, taken, writer, "job-metrics", rows=3)
        steps = embedded.client.query(f"SELECT step FROM job_metrics WHERE job = '{JOB}' ORDER BY step").result_columns
        assert list(steps[0]) == list(range(TAKEN))
        assert embedded.one(f"SELECT sum(reports) FROM job_throughput WHERE job = '{JOB}'") == TAKEN
    writer.close()
