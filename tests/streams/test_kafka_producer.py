"""What is left of a producer that was closed while the broker did not answer."""

import signal
import threading
import time
from concurrent.futures import wait

import pytest

from schedmate_records import EventKind, JobEvent
from streams.kafka import KafkaProducer
from streams.transport import Outgoing, TransportError, outgoing
from tests.servers.kafka import Kafka

pytestmark = pytest.mark.kafka


def test_closed_while_the_broker_is_silent_it_gives_up_and_leaves_no_thread(own_kafka: Kafka) -> None:
    before = set(threading.enumerate())
    producer = KafkaProducer(own_kafka.connection)
    message = outgoing(JobEvent(id="e", job="j", kind=EventKind.STARTED, time=1.0))
    producer.send(message).result(30)
    assert own_kafka.process is not None
    own_kafka.process.send_signal(signal.SIGSTOP)
    try:
        unanswered = producer.send(message)
        producer.close()
        with pytest.raises(TransportError):
            unanswered.result(30)
        deadline = time.monotonic() + 30
        while (left := set(threading.enumerate()) - before) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not left
    finally:
        own_kafka.process.send_signal(signal.SIGCONT)


def test_a_producer_goes_on_after_its_messages_expired(own_kafka: Kafka) -> None:
    producer = KafkaProducer(own_kafka.connection, give_up_s=4.0)
    messages = [Outgoing("job-logs", b"job-%d" % number, b"x" * 1000) for number in range(50)]
    producer.send(messages[0]).result(30)
    assert own_kafka.process is not None
    own_kafka.process.send_signal(signal.SIGSTOP)
    try:
        expiring = [producer.send(each) for each in messages]
        time.sleep(6)  # longer than it tries
    finally:
        own_kafka.process.send_signal(signal.SIGCONT)
    wait(expiring, 20)
    sent = [producer.send(each) for each in messages]
    assert not wait(sent, 20).not_done
    assert not any(each.exception() for each in sent)
    producer.close()
