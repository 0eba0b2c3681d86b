import resource
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from schedmate_records import GpuSample, decode
from streams.memory import MemoryBroker
from streams.producers.gpu.agent import GpuAgent
from streams.producers.gpu.recording import RecordingSource, RecordingWriter, shipped_recording
from streams.producers.gpu.source import GpuError, sample_id
from streams.transport import Outgoing, TransportError
from tests.metric_values import value
from tests.waiting import until

TOPIC = "gpu-metrics"


def sample(gpu: int, time: float = 0.0) -> GpuSample:
    return GpuSample(id=sample_id("n1", gpu, time), node="n1", gpu=gpu, time=time)


def gpus_in(broker: MemoryBroker) -> list[int]:
    return [decode(GpuSample, message.value).gpu for message in broker.read(TOPIC)]


class Source:
    """Gives what it is told to; stands for GPUs that this machine does not have."""

    def __init__(self, rounds: list[list[GpuSample] | GpuError]) -> None:
        self.rounds, self.closed = rounds, False

    @property
    def exhausted(self) -> bool:
        return not self.rounds

    def sample(self) -> list[GpuSample]:
        given = self.rounds.pop(0)
        if isinstance(given, GpuError):
            raise given
        return given

    def close(self) -> None:
        self.closed = True


class Gate:
    """A producer whose broker goes away and comes back, as told."""

    def __init__(self, broker: MemoryBroker) -> None:
        self.inner, self.open, self.connects = broker.producer(), False, 0

    def connect(self) -> "Gate":
        self.connects += 1
        if not self.open:
            raise TransportError("expected a broker, got none")
        return self

    def send(self, message: Outgoing) -> "Future[None]":
        if self.open:
            return self.inner.send(message)
        failed: Future[None] = Future()
        failed.set_exception(TransportError("the broker went away"))
        return failed

    def flush(self, timeout: float) -> None: ...

    def close(self) -> None: ...


def test_samples_of_a_recording_reach_the_topic_keyed_by_node(tmp_path: Path) -> None:
    broker = MemoryBroker()
    source = RecordingSource(shipped_recording(), timer=iter(range(0, 10**6, 20)).__next__, clock=lambda: 9000.0)
    recorder = RecordingWriter(tmp_path / "r.jsonl.gz", source.about, made_up=source.made_up)
    agent = GpuAgent(source, broker.producer, interval=0.001, clock=lambda: 42.0, recorder=recorder)
    agent.run()
    messages = broker.read(TOPIC)
    assert len(messages) == value(agent.metrics.samples) == agent.shipper.counters.acknowledged == 164
    assert {message.key for message in messages} == {b"made-up-node"}
    assert value(agent.metrics.xids) == 3
    assert value(agent.metrics.last_round) == 42.0
    again = RecordingSource(tmp_path / "r.jsonl.gz")
    assert again.made_up
    assert "no GPU was measured" in again.about


def test_a_round_that_fails_is_counted_and_the_next_one_is_taken() -> None:
    broker = MemoryBroker()
    source = Source([[sample(0)], GpuError("no NVML"), GpuError("no NVML"), [sample(1)]])
    agent = GpuAgent(source, broker.producer, interval=0.001)
    agent.run()
    assert sorted(gpus_in(broker)) == [0, 1]
    assert value(agent.metrics.rounds_failed) == 2
    assert source.closed


def test_stop_ends_a_long_wait() -> None:
    agent = GpuAgent(Source([[sample(0)], [sample(1)]]), MemoryBroker().producer, interval=3600)
    runner = threading.Thread(target=agent.run)
    runner.start()
    until(lambda: value(agent.metrics.samples) == 1)
    agent.stop()
    runner.join(10)
    assert not runner.is_alive()
    assert value(agent.metrics.samples) == 1


def test_rounds_that_a_slow_gpu_costs_are_counted_not_made_up_for() -> None:
    class Slow(Source):
        def sample(self) -> list[GpuSample]:
            time.sleep(0.05)
            return super().sample()

    agent = GpuAgent(Slow([[sample(0)], [sample(1)]]), MemoryBroker().producer, interval=0.01)
    agent.run()
    assert value(agent.metrics.rounds_missed) >= 8


def test_an_interval_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        GpuAgent(Source([]), MemoryBroker().producer, interval=0)


def test_a_full_disk_ends_the_recording_and_not_the_agent(tmp_path: Path) -> None:
    recorder = RecordingWriter(tmp_path / "r.jsonl", "a test")
    broker = MemoryBroker()
    many = [sample(gpu) for gpu in range(1000)]
    agent = GpuAgent(Source([many, [sample(1)]]), broker.producer, interval=0.001, recorder=recorder)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))  # as a full disk does: a file takes no more bytes
    try:
        agent.run()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert value(agent.metrics.recording_failed) == 1
    assert len(gpus_in(broker)) == 1001


def test_a_broker_that_goes_away_and_comes_back_gets_every_gpu_in_order() -> None:
    broker = MemoryBroker()
    gate = Gate(broker)
    agent = GpuAgent(Source([]), gate.connect)
    agent.ship([sample(gpu, time) for time in (0.0, 1.0) for gpu in range(4)])
    until(lambda: gate.connects >= 2)
    gate.open = True
    agent.ship([sample(gpu, 2.0) for gpu in range(4)])
    until(lambda: agent.shipper.counters.acknowledged == 12)
    agent.run()
    samples = [decode(GpuSample, message.value) for message in broker.read(TOPIC)]
    for gpu in range(4):
        assert [each.time for each in samples if each.gpu == gpu] == [0.0, 1.0, 2.0]
    assert agent.shipper.counters.lost == 0


def test_what_could_not_be_sent_at_the_end_is_counted() -> None:
    agent = GpuAgent(Source([[sample(0), sample(1)]]), Gate(MemoryBroker()).connect, close_seconds=0.05)
    began = time.monotonic()
    agent.run()
    assert time.monotonic() - began < 30
    assert agent.shipper.counters.lost == 2
