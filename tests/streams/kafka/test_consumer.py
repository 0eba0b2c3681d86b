"""Reading from Kafka."""

import pytest
from kafka import KafkaAdminClient, codec

from streams.kafka import KafkaProducer, read_back, read_newest
from streams.transport import Outgoing, TransportError
from tests.servers.kafka import Kafka

pytestmark = pytest.mark.kafka


def test_a_topic_that_its_broker_compresses_with_zstd_names_the_extra(
    kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = kafka.connection
    admin = KafkaAdminClient(**connection.config())
    layout = {"num_partitions": 1, "replication_factor": 1, "configs": {"compression.type": "zstd"}}
    admin.create_topics({"squeezed": layout}, timeout_ms=30_000, wait_for_metadata=True)
    admin.close()
    producer = KafkaProducer(connection)
    producer.send(Outgoing("squeezed", b"job", b"text " * 100)).result(30)
    producer.close()
    assert [each.value for each in read_back(connection, ["squeezed"])] == [b"text " * 100]
    monkeypatch.setattr(codec, "zstd", None)
    with pytest.raises(TransportError, match=r"pip install '.\[zstd\]'"):
        list(read_back(connection, ["squeezed"]))


def test_newest_messages_of_a_key_are_read_and_those_of_other_keys_left_out(own_kafka: Kafka) -> None:
    producer = KafkaProducer(own_kafka.connection)
    for number in range(40):
        for key in (b"job", b"b", b"c", b"d", b"e"):
            producer.send(Outgoing("job-logs", key, b"%s %d" % (key, number)))
    producer.send(Outgoing("job-logs", b"job", b"job 40")).result(30)
    producer.close()
    found = [each.value for each in read_newest(own_kafka.connection, "job-logs", b"job", 100)]
    assert found[-1] == b"job 40"
    assert all(each.startswith(b"job ") for each in found)
    assert len([*read_newest(own_kafka.connection, "job-logs", b"job", 1)]) <= 1
    assert [*read_newest(own_kafka.connection, "job-logs", b"nobody", 100)] == []
