"""What is left of a producer that was closed while the broker did not answer."""

import signal
import threading
import time

import pytest

from records import EventKind, JobEvent
from streams.kafka import KafkaProducer
from streams.transport import TransportError, outgoing
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
