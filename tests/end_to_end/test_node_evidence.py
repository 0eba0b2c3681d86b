"""A job whose log tells of a time-out alone, a node whose kernel log says why, and what the scheduler is then told."""

import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from processors.job import JobProcessor
from processors.node import NodeProcessor
from schedmate_records import (
    Action,
    Component,
    EventKind,
    Failure,
    JobEvent,
    LogChunk,
    Mode,
    NodeLogChunk,
    Outcome,
    decode,
)
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.policies import propose
from scheduler_bridge.schedulers import SchedulerJobState
from streams.kafka import list_topics, read_back
from streams.memory import MemoryBroker
from streams.partition import partition_of
from streams.producers.collector import Collector
from streams.producers.collector_settings import CollectorSettings
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.transport import Message, outgoing
from tests.metric_values import value
from tests.scheduler_bridge.findings import Written
from tests.scheduler_bridge.schedulers.local.actuator.test_actuator import Cluster
from tests.servers.kafka import Kafka
from tests.streams.runtimes.workers import command, send
from tests.waiting import until

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus.\n"
TIMED_OUT = (
    "[rank0]:[E ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=81, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600013 milliseconds before timing out."
)

SOUND, BROKEN = "slot-1", "slot-0"
FAIL = [sys.executable, "-c", "import os, sys; sys.exit(os.environ['LOCAL_RESTART_COUNT'] == '0')"]


def started(job: str) -> JobEvent:
    return JobEvent(id="s", job=job, kind=EventKind.STARTED, time=time.time() - 900, nodes=[SOUND, BROKEN])


def timed_out(job: str) -> LogChunk:
    """The rank on the sound node waits in vain for the one whose GPU is gone."""
    lines = [*(f"step {step} | loss {1 / step:.3f} | step_time 0.25 s" for step in range(1, 41)), TIMED_OUT]
    return LogChunk(job=job, node=SOUND, producer="p", lines=lines, time=time.time(), first_line=1, first_piece=1)


def ended(job: str) -> JobEvent:
    nodes = [SOUND, BROKEN]
    return JobEvent(id="e", job=job, kind=EventKind.ENDED, time=time.time(), nodes=nodes, exit_code=1, state="FAILED")


def check(last: Failure) -> None:
    assert (last.faulty_component, last.node, last.source) == (Component.GPU, BROKEN, "node-logs")
    assert last.root is not None
    assert last.root.text == XID.strip()
    assert last.final
    decision = next(each for each in propose(last, BridgeSettings()) if each.action is Action.RESTART)
    assert (decision.exclude_nodes, decision.node_evidence) == ([BROKEN], True)


def failures(messages: Sequence[Message]) -> list[Failure]:
    return sorted((decode(Failure, message.value) for message in messages), key=lambda one: one.revision)


def test_in_one_process_down_to_the_restart(tmp_path: Path) -> None:
    broker, log, cluster, written = MemoryBroker(partitions=4), tmp_path / "kern.log", Cluster(), Written()
    job = cluster.scheduler.submit(FAIL)
    assert cluster.wait(job, SchedulerJobState.FAILED).nodes == (BROKEN,)
    log.write_text("booted\n")
    worker = LocalWorker(broker, [Engine(JobProcessor()), Engine(NodeProcessor())])
    how = CollectorSettings(
        globs=[], pattern="(?P<job>x)", node_globs=[str(log)], node=BROKEN, checkpoint=tmp_path / "state"
    )
    collector, stop = Collector(how, broker.producer), threading.Event()
    running = threading.Thread(target=collector.run, args=(stop,))
    running.start()

    def found(topic: str) -> list[Message]:
        while worker.step():
            pass
        return broker.read(topic)

    try:
        broker.append(outgoing(started(job)))
        broker.append(outgoing(timed_out(job)))
        (first,) = failures(found("failures"))
        assert (first.faulty_component, first.node) == (Component.NETWORK, SOUND)
        until(lambda: value(collector.metrics.files) == 1)
        with log.open("a") as kernel:
            kernel.write(XID)
        until(lambda: len(found("node-findings")) == 1)
        broker.append(outgoing(ended(job)))
        found("failures")
    finally:
        stop.set()
        running.join()
        collector.close()
    verdicts = failures(broker.read("failures"))
    assert [one.faulty_component for one in verdicts] == [Component.NETWORK, Component.GPU, Component.GPU]
    check(verdicts[-1])
    bridge = Bridge(cluster.actuator, BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT), min_nodes_left=1), written)
    for verdict in verdicts:
        bridge.accept(verdict)
    assert bridge.advance() is None
    assert [(result.action, result.outcome, result.node) for result in written.results] == [
        (action, outcome, BROKEN)
        for action in (Action.DRAIN, Action.RESTART)
        for outcome in (Outcome.STARTED, Outcome.DONE)
    ]
    assert cluster.wait(job, SchedulerJobState.COMPLETED, attempt=1).nodes == (SOUND,)
    cluster.scheduler.close()


@pytest.mark.kafka
@pytest.mark.slow
def test_on_kafka(own_kafka: Kafka, tmp_path: Path) -> None:
    log, kernel = tmp_path / "commands.log", tmp_path / "kern.log"
    kernel.write_text("booted\n")
    state = {"SCHEDMATE_PRODUCER__DIRECTORY": str(tmp_path / "state"), "SCHEDMATE_SERVICE__PORT": "0"}

    def found(topic: str) -> list[Message]:
        return list(read_back(own_kafka.connection, [topic]))

    collect = ["collect", "--node", BROKEN, "--node-log", str(kernel)]
    with command(own_kafka, "worker", log=log), command(own_kafka, *collect, log=log, **state):
        elsewhere = [NodeLogChunk(node=f"idle-{number}", lines=[XID], time=time.time()) for number in range(8)]
        send(own_kafka, elsewhere)
        until(lambda: len(found("node-findings")) == 8, shown=lambda: log.read_text()[-3000:])
        alone = {(message.key, message.position.partition) for message in found("node-findings")}
        assert alone == {(b"", partition_of(b"", list_topics(own_kafka.connection)["node-findings"]))}
        send(own_kafka, [started("17")])
        until(lambda: len(found("placements")) == 2, shown=lambda: log.read_text()[-3000:])
        checkpoint = tmp_path / "state" / "collect.json"
        until(checkpoint.exists, shown=lambda: log.read_text()[-3000:])
        with kernel.open("a") as lines:
            lines.write(XID)
        until(lambda: len(found("node-findings")) == 9, shown=lambda: log.read_text()[-3000:])
        send(own_kafka, [timed_out("17"), ended("17")])
        (
            until(lambda: any(one.final and one.node == BROKEN for one in failures(found("failures")))),
            (log.read_text()[-3000:]),
        )
        check(failures(found("failures"))[-1])
