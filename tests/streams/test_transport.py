"""Both transports keep the same contract."""

import time
import uuid
from collections.abc import Callable, Iterator

import kafka as kafka_python
import pytest
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import (
    CommitFailedError,
    IllegalGenerationError,
    KafkaConnectionError,
    KafkaError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)

from schedmate_records import EventKind, JobEvent
from streams.kafka import KafkaConsumer, KafkaProducer, check_topics, create_topics, list_topics, read_back
from streams.memory import MemoryBroker
from streams.partition import partition_of
from streams.topics import LAYOUTS
from streams.transport import Consumer, Message, Outgoing, Producer, TransportError, outgoing
from tests.servers.kafka import Kafka


class Transport:
    def __init__(self, producer: Producer, consumer: Callable[[str], Consumer], partitions: int) -> None:
        self.producer, self.consumer, self.partitions = producer, consumer, partitions


@pytest.fixture(params=["memory", pytest.param("kafka", marks=pytest.mark.kafka)])
def transport(request: pytest.FixtureRequest) -> Iterator[Transport]:
    if request.param == "memory":
        broker = MemoryBroker(partitions=4)
        yield Transport(broker.producer(), lambda group: broker.consumer(group, ["job-events"]), 4)
        return
    server: Kafka = request.getfixturevalue("kafka")
    producer = KafkaProducer(server.connection)
    yield Transport(producer, lambda group: KafkaConsumer(server.connection, group, ["job-events"]), 4)
    producer.close()


def event(job: str, number: int) -> JobEvent:
    return JobEvent(id=f"{job}/{number}", job=job, kind=EventKind.STARTED, time=float(number))


def read(consumer: Consumer, wanted: Callable[[Message], bool], count: int, seconds: float = 20) -> list[Message]:
    found: list[Message] = []
    deadline = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < deadline:
        found += [message for message in consumer.poll(0.2) if wanted(message)]
    return found


def test_messages_of_a_key_keep_their_order_and_partition(transport: Transport) -> None:
    jobs = [uuid.uuid4().hex for _ in range(5)]
    sent = [transport.producer.send(outgoing(event(job, number))) for number in range(10) for job in jobs]
    transport.producer.flush(10)
    for future in sent:
        assert future.result(10) is None
    keys = {job.encode() for job in jobs}
    with transport.consumer("order" + jobs[0]) as consumer:
        messages = read(consumer, lambda message: message.key in keys, 50)
    assert len(messages) == 50
    for key in keys:
        mine = [message for message in messages if message.key == key]
        assert [message.value for message in mine] == [
            outgoing(event(key.decode(), number)).value for number in range(10)
        ]
        assert {message.position.partition for message in mine} == {partition_of(key, transport.partitions)}


def test_a_group_goes_on_where_it_committed(transport: Transport) -> None:
    job = uuid.uuid4().hex
    for number in range(6):
        transport.producer.send(outgoing(event(job, number))).result(10)
    mine = job.encode()
    with transport.consumer("group" + job) as first:
        assert len(read(first, lambda message: message.key == mine, 6)) == 6
        first.commit()
    for number in range(6, 9):
        transport.producer.send(outgoing(event(job, number))).result(10)
    with transport.consumer("group" + job) as second:
        assert len(read(second, lambda message: message.key == mine, 3)) == 3
    with transport.consumer("group" + job) as third:
        assert len(read(third, lambda message: message.key == mine, 3)) == 3, "nothing was committed by the second"


@pytest.mark.kafka
def test_a_commit_that_a_dying_broker_did_not_take_is_part_of_the_next(
    kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reset(*_: object, **__: object) -> None:
        raise KafkaConnectionError("reset by peer")

    job = uuid.uuid4().hex
    producer = KafkaProducer(kafka.connection)
    producer.send(outgoing(event(job, 1))).result(10)
    with KafkaConsumer(kafka.connection, "reset" + job, ["job-events"]) as first:
        assert len(read(first, lambda message: message.key == job.encode(), 1)) == 1
        with monkeypatch.context() as dying:  # no broker can be killed at just that moment
            dying.setattr(kafka_python.KafkaConsumer, "commit", reset)
            first.commit()
        first.commit()
    producer.send(outgoing(event(job, 2))).result(10)
    producer.close()
    with KafkaConsumer(kafka.connection, "reset" + job, ["job-events"]) as second:
        (found,) = read(second, lambda message: message.key == job.encode(), 1)
    assert found.value == outgoing(event(job, 2)).value


@pytest.mark.kafka
@pytest.mark.parametrize(
    "error", [CommitFailedError, IllegalGenerationError, RebalanceInProgressError, UnknownMemberIdError]
)
def test_a_commit_during_a_rebalance_is_left_to_the_new_owner(
    kafka: Kafka, monkeypatch: pytest.MonkeyPatch, error: type[KafkaError]
) -> None:
    def moved(*_: object, **__: object) -> None:
        raise error

    with KafkaConsumer(kafka.connection, uuid.uuid4().hex, ["job-events"]) as consumer:
        with monkeypatch.context() as rebalance:
            rebalance.setattr(kafka_python.KafkaConsumer, "commit", moved)
            consumer.commit()
        consumer.commit()


@pytest.mark.kafka
def test_members_that_come_and_go_end_nobody_and_all_is_read(kafka: Kafka) -> None:
    """A member that does not poll holds every rebalance open, so that the others poll and commit in the midst of it."""
    group, job = uuid.uuid4().hex, uuid.uuid4().hex
    producer = KafkaProducer(kafka.connection)
    seen: set[bytes] = set()

    def work(consumer: Consumer, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            seen.update(message.value for message in consumer.poll(0.05) if message.key == job.encode())
            consumer.lag()
            consumer.commit()

    with KafkaConsumer(kafka.connection, group, ["job-events"], session_timeout_s=6) as steady:
        work(steady, 0.5)
        for number in range(2):
            producer.send(outgoing(event(job, number))).result(10)
            with KafkaConsumer(kafka.connection, group, ["job-events"], session_timeout_s=6) as silent:
                silent.poll(0.1)
                work(steady, 1.0)
                with KafkaConsumer(kafka.connection, group, ["job-events"], session_timeout_s=6) as third:
                    third.poll(0.1)
                    work(steady, 1.0)  # waits for the silent member, which is asked to join again and does not
                    work(third, 0.2)
        wanted = {outgoing(event(job, number)).value for number in range(2)}
        deadline = time.monotonic() + 30
        while not wanted <= seen and time.monotonic() < deadline:
            work(steady, 0.1)
    producer.close()
    assert wanted <= seen


@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_consumer_waits_for_a_broker_that_dies(own_kafka: Kafka) -> None:
    """SIGKILL of the broker while it is read; what the consumer does then is what a sink and a bridge do all day."""
    with KafkaConsumer(own_kafka.connection, "waits", ["job-events"], session_timeout_s=3) as consumer:
        for number in range(2):
            producer = KafkaProducer(own_kafka.connection)
            producer.send(outgoing(event("waits", number))).result(30)
            producer.close()
            wanted = outgoing(event("waits", number)).value  # what was not committed may come again before it
            assert read(consumer, lambda message, wanted=wanted: message.value == wanted, 1, seconds=40)  # type: ignore[misc]
            assert consumer.commit()
            own_kafka.kill()
            for _ in range(20):
                assert not consumer.poll(0.1)
                consumer.lag()
            consumer.commit()  # not taken, or the group has no members any more: what was read comes again
            own_kafka.start()


@pytest.mark.kafka
def test_a_poll_that_a_dying_broker_did_not_answer_gives_nothing(kafka: Kafka, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise KafkaConnectionError("111 ECONNREFUSED")

    job = uuid.uuid4().hex
    producer = KafkaProducer(kafka.connection)
    producer.send(outgoing(event(job, 1))).result(10)
    producer.close()
    with KafkaConsumer(kafka.connection, "refused" + job, ["job-events"]) as consumer:
        with monkeypatch.context() as dying:  # no broker can be killed at just that moment
            dying.setattr(kafka_python.KafkaConsumer, "poll", refused)
            assert not consumer.poll(0.1)
        assert read(consumer, lambda message: message.key == job.encode(), 1)


@pytest.mark.kafka
def test_a_commit_that_a_dying_broker_did_not_take_is_owed(kafka: Kafka, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise KafkaConnectionError("111 ECONNREFUSED")

    job = uuid.uuid4().hex
    producer = KafkaProducer(kafka.connection)
    producer.send(outgoing(event(job, 1))).result(10)
    producer.close()
    with KafkaConsumer(kafka.connection, "owed" + job, ["job-events"]) as consumer:
        assert read(consumer, lambda message: message.key == job.encode(), 1)
        with monkeypatch.context() as dying:  # no broker can be killed at just that moment
            dying.setattr(kafka_python.KafkaConsumer, "commit", refused)
            assert not consumer.commit()
        assert consumer.commit()


def test_an_unknown_topic_is_refused(transport: Transport) -> None:
    with pytest.raises(TransportError, match="no-such-topic"):
        transport.producer.send(Outgoing("no-such-topic", b"k", b"v")).result(20)


def test_memory_keeps_a_bounded_number_of_messages() -> None:
    broker = MemoryBroker(partitions=1, retain=10)
    for number in range(25):
        broker.append(outgoing(event("j", number)))
    with broker.consumer("g", ["job-events"]) as consumer:
        assert [message.position.offset for message in consumer.poll(0)] == list(range(15, 25))
        assert consumer.lag()["job-events", 0] == 0


@pytest.mark.kafka
def test_topics_are_created_once_and_checked(own_kafka: Kafka) -> None:
    assert create_topics(own_kafka.connection, 4, 1) == []
    assert set(list_topics(own_kafka.connection)) == {layout.name for layout in LAYOUTS}
    assert check_topics(own_kafka.connection) == []
    alter = {"message.timestamp.type": "CreateTime", "retention.ms": "60000"}
    admin = kafka_python.KafkaAdminClient(**own_kafka.connection.config())
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, "job-logs", alter)])
    admin.close()
    deadline = time.monotonic() + 30
    while not (problems := check_topics(own_kafka.connection)) and time.monotonic() < deadline:
        time.sleep(0.1)  # the broker answers before it knows
    (problem,) = problems
    assert problem.startswith(
        "topic job-logs has message.timestamp.type=CreateTime, expected LogAppendTime: kafka-configs.sh"
    )


@pytest.mark.kafka
def test_reading_back_stops_at_the_end(kafka: Kafka) -> None:
    job = uuid.uuid4().hex
    producer = KafkaProducer(kafka.connection)
    began = time.time()
    for number in range(3):
        producer.send(outgoing(event(job, number))).result(10)
    producer.close()
    found = [
        message
        for message in read_back(kafka.connection, ["job-events"], since=began - 5)
        if message.key == job.encode()
    ]
    assert len(found) == 3
    assert list(read_back(kafka.connection, ["job-events"], since=time.time() + 3600)) == []
    with pytest.raises(TransportError, match="schedmate topics create"):
        list(read_back(kafka.connection, ["nothing"]))
