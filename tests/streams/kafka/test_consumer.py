"""Reading from Kafka."""

import pytest
from kafka import KafkaAdminClient, codec

from streams.kafka import KafkaProducer, read_back
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
