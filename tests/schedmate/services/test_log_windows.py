"""The lines around what a decision rests on, read from a real broker."""

import pytest

from schedmate.services.log_windows import AROUND, LogWindows
from schedmate_records import Action, Decision, Evidence, LogChunk, NodeLogChunk
from streams.kafka import Connection, KafkaReader
from tests.servers.kafka import Kafka
from tests.streams.runtimes.workers import send


def places(kafka: Kafka, topic: str, key: bytes) -> list[tuple[int, int]]:
    """Return partition and offset of a key's messages."""
    reader = KafkaReader(kafka.connection)
    found = [each for partition in range(4) for each in reader.read_at(topic, partition, range(1000))]
    reader.close()
    return [(each.position.partition, each.position.offset) for each in found if each.key == key]


def drain(job: str, node: str, *evidence: tuple[str, tuple[int, int]]) -> Decision:
    lines = [Evidence(topic=topic, partition=place[0], offset=place[1], line=1, text="x") for topic, place in evidence]
    return Decision(
        id="drain/n7",
        action=Action.DRAIN,
        job=job,
        node=node,
        time=1.0,
        expires=9.0,
        policy="p",
        reason="r",
        evidence=lines,
    )


@pytest.mark.kafka
def test_each_rank_and_the_node_speak_and_no_other_job(own_kafka: Kafka) -> None:
    jobs = [
        LogChunk(job="7", rank=number % 2, node="n7", lines=[f"line {number}"], time=1.0)
        for number in range(3 * AROUND)
    ]
    # Jobs whose lines stand in the same partition, or in another.
    others = [LogChunk(job=str(number), lines=["theirs"], time=1.0) for number in range(100, 120)]
    nodes = [NodeLogChunk(node=node, source="kernel", lines=[f"of {node}"], time=1.0) for node in ("n7", "n8")]
    send(own_kafka, [*others, *jobs, *others, *nodes])
    middle = places(own_kafka, "job-logs", b"7")[150]
    node = places(own_kafka, "node-logs", b"n7")[0]
    windows = LogWindows(own_kafka.connection)
    found = windows(drain("7", "n7", ("job-logs", middle), ("node-logs", node), ("failures", middle)))
    windows.close()
    assert found.keys() == {"job-7-0-rank-0-stdout.log", "job-7-0-rank-1-stdout.log", "node-n7-kernel.log"}
    assert found["node-n7-kernel.log"] == "of n7\n"
    lines = found["job-7-0-rank-0-stdout.log"].split("\n")[:-1]
    assert lines == [f"line {number}" for number in range(50, 251, 2)]


def test_a_broker_that_is_away_is_said_and_stops_nothing() -> None:
    windows = LogWindows(Connection(("127.0.0.1:1",), bootstrap_timeout_s=0.2))
    found = windows(drain("7", "n7", ("job-logs", (0, 5))))
    windows.close()
    assert found["job-logs.txt"].startswith("not read: ")
