"""A job whose log tells of a time-out alone, a node whose kernel log says why, and what the scheduler is then told."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from processors.job import JobProcessor
from processors.node import NodeProcessor
from records import Component, Decision, EventKind, Failure, JobEvent, LogChunk, Record, decode
from scheduler_bridge.policies import propose
from scheduler_bridge.settings import BridgeSettings
from streams.kafka import read_back
from streams.memory import MemoryBroker
from streams.producers.collector import Collector, CollectorSettings
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.transport import Message, outgoing
from tests.servers.kafka import Kafka
from tests.streams.runtimes.workers import command, send

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus.\n"
TIMED_OUT = (
    "[rank0]:[E ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=81, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600013 milliseconds before timing out."
)


def started() -> JobEvent:
    now = time.time()
    return JobEvent(id="s", job="17", kind=EventKind.STARTED, time=now - 900, nodes=["n0", "n1"])


def rest() -> list[Record]:
    """The job's rank on n0 times out, because the one on n1 has lost its GPU."""
    lines = [*(f"step {step} | loss {1 / step:.3f} | step_time 0.25 s" for step in range(1, 41)), TIMED_OUT]
    now = time.time()
    chunk = LogChunk(job="17", node="n0", producer="p", lines=lines, time=now, first_line=1, first_piece=1)
    return [
        chunk,
        JobEvent(id="e", job="17", kind=EventKind.ENDED, time=now + 5, nodes=["n0", "n1"], exit_code=1, state="FAILED"),
    ]


def check(verdicts: Sequence[Failure]) -> None:
    first, last = verdicts[0], verdicts[-1]
    assert (first.faulty_component, first.node) == (Component.NETWORK, "n0")
    assert (last.faulty_component, last.node, last.source) == (Component.GPU, "n1", "node-logs")
    assert last.root is not None
    assert last.root.text == XID.strip()
    assert last.final
    assert last.revision > first.revision
    decision = propose(last, BridgeSettings())
    assert isinstance(decision, Decision)
    assert decision.exclude_nodes == ["n1"]


def failures(messages: Sequence[Message]) -> list[Failure]:
    return sorted((decode(Failure, message.value) for message in messages), key=lambda one: one.revision)


def until(done: Callable[[], bool], seconds: float = 60.0) -> bool:
    deadline = time.monotonic() + seconds
    while not (over := done()) and time.monotonic() < deadline:
        time.sleep(0.2)
    return over


def test_in_one_process(tmp_path: Path) -> None:
    broker, log = MemoryBroker(partitions=4), tmp_path / "kern.log"
    log.write_text("booted\n")
    worker = LocalWorker(broker, [Engine(JobProcessor()), Engine(NodeProcessor())])
    how = CollectorSettings(
        globs=[], pattern="(?P<job>x)", node_globs=[str(log)], node="n1", checkpoint=tmp_path / "state"
    )
    collector, stop = Collector(how, broker.producer), threading.Event()
    running = threading.Thread(target=collector.run, args=(stop,))
    running.start()
    try:
        broker.append(outgoing(started()))
        assert until(lambda: collector.counters.files == 1)
        with log.open("a") as kernel:
            kernel.write(XID)
        for record in rest():
            broker.append(outgoing(record))

        def told() -> bool:
            while worker.step():
                pass
            return len(broker.read("node-findings")) == 1

        assert until(told)
        while worker.step():
            pass
    finally:
        stop.set()
        running.join()
        collector.close()
    check(failures(broker.read("failures")))


@pytest.mark.kafka
@pytest.mark.slow
def test_on_kafka(own_kafka: Kafka, tmp_path: Path) -> None:
    log, kernel = tmp_path / "commands.log", tmp_path / "kern.log"
    kernel.write_text("booted\n")
    state = {"SCHEDMATE_PRODUCER__DIRECTORY": str(tmp_path / "state"), "SCHEDMATE_SERVICE__PORT": "0"}

    def found(topic: str) -> list[Message]:
        return list(read_back(own_kafka.connection, [topic]))

    collect = ["collect", "--node", "n1", "--node-log", str(kernel)]
    with command(own_kafka, "worker", log=log), command(own_kafka, *collect, log=log, **state):
        send(own_kafka, [started()])
        assert until(lambda: len(found("node-stays")) == 2), log.read_text()[-3000:]
        checkpoint = tmp_path / "state" / "collect.json"
        assert until(checkpoint.exists), log.read_text()[-3000:]
        with kernel.open("a") as lines:
            lines.write(XID)
        assert until(lambda: len(found("node-findings")) == 1), log.read_text()[-3000:]
        send(own_kafka, rest())
        assert until(lambda: any(one.final and one.node == "n1" for one in failures(found("failures")))), (
            log.read_text()[-3000:]
        )
        check(failures(found("failures")))
