"""Samples on a real broker that dies and comes back."""

import time

import pytest

from records import GpuSample, decode
from streams.kafka import KafkaConsumer, KafkaProducer
from streams.producers.gpu import Outbox, sample_id
from tests.metric_values import value
from tests.servers.kafka import Kafka

from .test_agent import wait_until


def samples(first: int, count: int) -> list[GpuSample]:
    return [
        GpuSample(id=sample_id("n1", 0, second), node="n1", gpu=0, time=float(second))
        for second in range(first, first + count)
    ]


@pytest.mark.kafka
@pytest.mark.slow
def test_a_broker_that_is_killed_and_comes_back_gets_every_sample(own_kafka: Kafka) -> None:
    outbox = Outbox(lambda: KafkaProducer(own_kafka.connection, give_up_s=20), retry=(0.1, 0.5))
    try:
        outbox.put(samples(0, 50))
        wait_until(lambda: value(outbox.metrics.sent) == 50, 40)
        own_kafka.kill()
        outbox.put(samples(50, 50))
        time.sleep(1)
        assert value(outbox.metrics.sent) == 50
        own_kafka.start()
        wait_until(lambda: value(outbox.metrics.sent) == 100, 60)
    finally:
        outbox.close()
    assert value(outbox.metrics.dropped) == 0
    with KafkaConsumer(own_kafka.connection, "gpu-test", ["gpu-metrics"]) as consumer:
        times: list[float] = []
        deadline = time.monotonic() + 30
        while len(set(times)) < 100 and time.monotonic() < deadline:
            times += [decode(GpuSample, message.value).time for message in consumer.poll(1.0)]
    assert times == [float(second) for second in range(100)]
