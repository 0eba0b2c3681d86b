import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from records import GpuSample, decode
from streams.memory import MemoryBroker
from streams.producers.gpu import (
    GpuAgent,
    GpuError,
    Outbox,
    RecordingSource,
    RecordingWriter,
    sample_id,
    shipped_recording,
)
from streams.transport import Outgoing, TransportError
from tests.metric_values import value

TOPIC = "gpu-metrics"


def wait_until(good: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not good():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


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
        self.inner, self.open, self.unacknowledged, self.connects = broker.producer(), False, False, 0
        self.held: list[Future[None]] = []

    def connect(self) -> "Gate":
        self.connects += 1
        if not self.open:
            raise TransportError("expected a broker, got none")
        return self

    def send(self, message: Outgoing) -> "Future[None]":
        if self.unacknowledged:
            self.held.append(Future())
            return self.held[-1]
        if self.open:
            return self.inner.send(message)
        failed: Future[None] = Future()
        failed.set_exception(TransportError("the broker went away"))
        return failed

    def flush(self, timeout: float) -> None: ...

    def close(self) -> None: ...


class Refusing:
    """A producer whose broker takes nothing."""

    def send(self, message: Outgoing) -> "Future[None]":
        failed: Future[None] = Future()
        failed.set_exception(TransportError("too large"))
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
    assert len(messages) == value(agent.metrics.samples) == value(agent.outbox.metrics.sent) == 164
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
    wait_until(lambda: value(agent.metrics.samples) == 1)
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
    with Path("/dev/full").open("wb") as full:
        recorder._file = full
        agent = GpuAgent(Source([[sample(0)], [sample(1)]]), broker.producer, interval=0.001, recorder=recorder)
        agent.run()
    assert value(agent.metrics.recording_failed) == 1
    assert len(gpus_in(broker)) == 2


def test_broker_away_from_the_start_oldest_dropped_rest_sent_in_order() -> None:
    broker = MemoryBroker()
    gate = Gate(broker)
    outbox = Outbox(gate.connect, limit=5, retry=(0.01, 0.02))
    outbox.put(sample(number) for number in range(12))
    wait_until(lambda: gate.connects >= 20)  # more often than one record is tried: a connection is no try
    gate.open = True
    wait_until(lambda: value(outbox.metrics.sent) + value(outbox.metrics.dropped) == 12)
    assert gpus_in(broker) == [7, 8, 9, 10, 11]
    assert (value(outbox.metrics.sent), value(outbox.metrics.dropped), value(outbox.metrics.queued)) == (5, 7, 0)
    outbox.close()


def test_broker_that_goes_away_and_comes_back_gets_all_in_order() -> None:
    broker = MemoryBroker()
    gate = Gate(broker)
    gate.open = True
    outbox = Outbox(gate.connect, retry=(0.01, 0.05))
    outbox.put([sample(0)])
    wait_until(lambda: value(outbox.metrics.sent) == 1)
    gate.open = False
    outbox.put(sample(number) for number in range(1, 6))
    time.sleep(0.05)
    gate.open = True
    wait_until(lambda: value(outbox.metrics.sent) == 6)
    assert gpus_in(broker) == list(range(6))
    assert value(outbox.metrics.dropped) == 0
    outbox.close()


def test_what_is_refused_again_and_again_is_given_up() -> None:
    outbox = Outbox(Refusing, retry=(0.001, 0.001))
    outbox.put([sample(0), sample(1)])
    wait_until(lambda: value(outbox.metrics.dropped) == 2)
    assert value(outbox.metrics.queued) == value(outbox.metrics.sent) == 0
    outbox.close()


def test_memory_is_bounded_while_nothing_is_acknowledged() -> None:
    gate = Gate(MemoryBroker())
    gate.open = gate.unacknowledged = True
    outbox = Outbox(gate.connect, limit=10, in_flight=3)
    outbox.put(sample(number) for number in range(100))
    wait_until(lambda: len(gate.held) == 3 and value(outbox.metrics.queued) <= 10)
    outbox.put(sample(number) for number in range(100))
    assert value(outbox.metrics.queued) == 10
    assert len(gate.held) == 3
    gate.held[0].set_result(None)
    wait_until(lambda: len(gate.held) == 4)
    gate.held[1].cancel()  # counts as a try that failed
    outbox.close(timeout=0.05)
    assert value(outbox.metrics.sent) == 1
    assert value(outbox.metrics.sent) + value(outbox.metrics.dropped) == 200


def test_close_does_not_wait_for_a_broker_that_does_not_answer() -> None:
    release = threading.Event()

    def connect() -> Gate:
        release.wait(60)
        raise TransportError("no broker")

    outbox = Outbox(connect)
    outbox.put([sample(0)])
    began = time.monotonic()
    outbox.close(timeout=0.1)
    assert time.monotonic() - began < 30
    release.set()
    assert value(outbox.metrics.dropped) == 1
