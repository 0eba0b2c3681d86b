"""Single messages by their places, on a real broker."""

import kafka
import pytest

from schedmate_records import LogChunk
from streams.kafka import KafkaReader
from tests.servers.kafka import Kafka
from tests.streams.runtimes.workers import send


@pytest.mark.kafka
def test_messages_are_read_by_their_offsets_and_those_that_are_gone_left_out(own_kafka: Kafka) -> None:
    count = 400
    send(own_kafka, [LogChunk(job="j", lines=[f"line {number} {'x' * 2000}"], time=1.0) for number in range(count)])
    reader = KafkaReader(own_kafka.connection)
    partition = next(number for number in range(4) if reader.read_at("job-logs", number, [0]))
    wanted = [0, 1, 5, 350, 399]
    found = reader.read_at("job-logs", partition, [*wanted, 400, 10_000])
    assert [each.position.offset for each in found] == wanted
    assert [int(each.value.split(b"line ")[1].split()[0]) for each in found] == wanted
    admin = kafka.KafkaAdminClient(bootstrap_servers=[own_kafka.address])
    admin.delete_records({kafka.TopicPartition("job-logs", partition): 300})
    admin.close()
    assert [each.position.offset for each in reader.read_at("job-logs", partition, wanted)] == [350, 399]
    reader.close()
    assert [each.position.offset for each in reader.read_at("job-logs", partition, [399])] == [399], "it opens again"
