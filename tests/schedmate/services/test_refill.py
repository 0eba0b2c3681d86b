"""A table that somebody dropped is filled again from Kafka, without what the sink has not taken yet."""

import pytest

from schedmate.services.refill import refill
from schedmate_records import encode
from sinks.clickhouse import ClickHouseWriter, migrate
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
