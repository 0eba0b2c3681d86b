"""Topics read up to their ends, by as many as want to, across the death of the broker."""

import pytest

from streams.kafka import KafkaFollower, KafkaProducer
from streams.transport import Outgoing, TransportError
from tests.servers.kafka import Kafka

pytestmark = pytest.mark.kafka


def test_every_follower_reads_all_once_across_an_outage(own_kafka: Kafka) -> None:
    topics = ("approvals", "decisions")
    first, second = (KafkaFollower(own_kafka.connection, topics, timeout_s=5.0) for _ in range(2))
    assert first.new() == []
    producer = KafkaProducer(own_kafka.connection)

    def write(*values: bytes) -> None:
        for number, value in enumerate(values):
            producer.send(Outgoing(topics[number % 2], b"", value)).result(30)

    write(b"a", b"b", b"c")
    assert sorted(message.value for message in first.new()) == [b"a", b"b", b"c"]
    assert first.new() == []
    own_kafka.kill()
    with pytest.raises(TransportError):
        first.new()
    own_kafka.start()
    write(b"d")
    assert [message.value for message in first.new()] == [b"d"]
    assert sorted(message.value for message in second.new()) == [b"a", b"b", b"c", b"d"]
    for each in (first, second, producer):
        each.close()


def test_a_topic_that_is_not_there_is_named(own_kafka: Kafka) -> None:
    with pytest.raises(TransportError, match="nowhere"):
        KafkaFollower(own_kafka.connection, ["nowhere"]).new()
