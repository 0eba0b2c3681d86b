"""Where something was written, told without what was written, across the death of the broker."""

import time

import pytest

from streams.changes import Change
from streams.kafka import KafkaChanges, KafkaProducer
from streams.transport import Outgoing, TransportError
from tests.servers.kafka import Kafka

pytestmark = pytest.mark.kafka
PATIENCE_S = 60.0


def write(broker: Kafka, *messages: Outgoing) -> None:
    producer = KafkaProducer(broker.connection)
    for each in [producer.send(message) for message in messages]:
        each.result(PATIENCE_S)
    producer.close()


def await_answer(changes: KafkaChanges) -> set[Change]:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return changes.new()
        except TransportError:
            if time.monotonic() > deadline:
                raise


def test_keys_of_topics_and_no_more_of_those_that_are_counted(own_kafka: Kafka) -> None:
    changes = KafkaChanges(own_kafka.connection, ["decisions", "failures"], ["job-metrics"])
    everything = {Change("decisions"), Change("failures"), Change("job-metrics")}
    assert changes.new() == everything, "nobody knows what was missed"
    assert changes.new() == set()
    write(
        own_kafka,
        Outgoing("decisions", b"4711", b"a"),
        Outgoing("failures", b"\xff", b"b"),
        Outgoing("job-metrics", b"4712", b"c"),
    )
    assert changes.new() == {Change("decisions", "4711"), Change("failures", "\ufffd"), Change("job-metrics")}
    assert changes.new() == set()
    own_kafka.kill()
    with pytest.raises(TransportError):
        changes.new()
    own_kafka.start()
    assert await_answer(changes) == everything
    changes.close()


def test_a_flood_is_told_as_one_change_and_not_read(own_kafka: Kafka) -> None:
    changes = KafkaChanges(own_kafka.connection, ["decisions"])
    changes.new()
    write(own_kafka, *(Outgoing("decisions", str(number).encode(), b"") for number in range(3000)))
    assert changes.new() == {Change("decisions")}
    assert changes.new() == set()
    changes.close()
