"""Samples on a real broker that dies and comes back."""

import time

import pytest

from schedmate_records import GpuSample, decode
from streams.kafka import KafkaConsumer, KafkaProducer
from streams.producers.gpu.agent import GpuAgent
from streams.producers.gpu.source import sample_id
from tests.servers.kafka import Kafka
from tests.waiting import until


def samples(first: int, count: int) -> list[GpuSample]:
    return [
        GpuSample(id=sample_id("n1", 0, second), node="n1", gpu=0, time=float(second))
        for second in range(first, first + count)
    ]


class Nothing:
    """A source without GPUs, already at its end."""

    exhausted = True

    def sample(self) -> list[GpuSample]:
        return []

    def close(self) -> None: ...


@pytest.mark.kafka
@pytest.mark.slow
def test_a_broker_that_is_killed_and_comes_back_gets_every_sample(own_kafka: Kafka) -> None:
    agent = GpuAgent(Nothing(), lambda: KafkaProducer(own_kafka.connection, give_up_s=20))
    counters = agent.shipper.counters
    try:
        agent.ship(samples(0, 50))
        until(lambda: counters.acknowledged == 50, 40)
        own_kafka.kill()
        agent.ship(samples(50, 50))
        until(lambda: not counters.broker_up, 40)
        assert counters.acknowledged == 50
        own_kafka.start()
        until(lambda: counters.acknowledged == 100, 60)
    finally:
        agent.run()
    assert counters.lost == 0
    with KafkaConsumer(own_kafka.connection, "gpu-test", ["gpu-metrics"]) as consumer:
        times: list[float] = []
        deadline = time.monotonic() + 30
        while len(set(times)) < 100 and time.monotonic() < deadline:
            times += [decode(GpuSample, message.value).time for message in consumer.poll(1.0)]
    assert times == [float(second) for second in range(100)]
