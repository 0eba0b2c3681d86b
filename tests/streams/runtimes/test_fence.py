"""A worker that another one has replaced writes nothing: on a real broker."""

import signal
from pathlib import Path

import pytest

from schedmate_records import LogChunk, Record
from streams.kafka import KafkaProducer, read_back
from streams.runtimes.marker import Marker
from streams.runtimes.stored import MARKER, Key
from streams.transport import Outgoing
from tests.servers.kafka import Kafka

from .test_conformance import RESULTS, by_id, locally
from .workers import all_read, command, endings, send, training, until, values, wait_for

STATES = "job-state"


def take_over(broker: Kafka) -> None:
    """Write into each partition of the states what a worker writes that takes it over."""
    newest: dict[int, Marker] = {}
    for message in read_back(broker.connection, [STATES]):
        if Key.decode(message.key or b"").name == MARKER and message.value:
            found = Marker.decode(message.value)
            known = newest.setdefault(message.position.partition, found)
            newest[message.position.partition] = max(known, found, key=lambda marker: marker.epoch)
    assert newest
    producer = KafkaProducer(broker.connection)
    for partition, marker in newest.items():
        marker.begin(marker.begun, marker.held, (), worker=0)
        message = Outgoing(STATES, Key(MARKER, "", marker.epoch).encode(), marker.encode(), partition)
        producer.send(message).result(30)
    producer.close()


@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_worker_that_was_replaced_writes_nothing_until_it_has_read_again(own_kafka: Kafka, tmp_path: Path) -> None:
    logs, ends, log = training(jobs=6, chunks=8), endings(6), tmp_path / "worker.log"
    expected = locally(logs + ends)
    with command(own_kafka, "worker", log=log) as worker:
        send(own_kafka, logs)
        wait_for(own_kafka, RESULTS, len(locally(logs)), log)
        until(lambda: all_read(own_kafka, "schedmate-worker"), log)
        take_over(own_kafka)
        before = values(own_kafka, RESULTS)
        send(own_kafka, ends)
        until(lambda: "overtaken" in log.read_text(), log)
        assert values(own_kafka, RESULTS) == before
        found = wait_for(own_kafka, RESULTS, len(expected), log)  # it stays a member: the other one was none
        assert worker.poll() is None
    assert by_id(found) == expected
    assert len(found) == len(expected), "nothing was written twice"


@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_worker_that_stood_still_for_longer_than_its_session_goes_on(own_kafka: Kafka, tmp_path: Path) -> None:
    logs, ends = training(jobs=6, chunks=8), endings(6)
    half, expected = len(logs) // 2, locally(logs + ends)
    still, other = tmp_path / "still.log", tmp_path / "other.log"
    with command(own_kafka, "worker", log=still) as stopped, command(own_kafka, "worker", log=other) as working:
        send(own_kafka, logs[:half])
        wait_for(own_kafka, RESULTS, len(locally(logs[:half])), still)
        stopped.send_signal(signal.SIGSTOP)
        send(own_kafka, logs[half:])  # its share comes into its hands as soon as it wakes
        wait_for(own_kafka, RESULTS, len(locally(logs)), other)
        stopped.send_signal(signal.SIGCONT)
        send(own_kafka, ends)
        wait_for(own_kafka, RESULTS, len(expected), other)
        until(lambda: all_read(own_kafka, "schedmate-worker"), still)
        working.terminate()
        assert working.wait(60) == 0
        more: list[Record] = [
            each for each in training(jobs=8, chunks=8) if isinstance(each, LogChunk) and each.job in ("job-6", "job-7")
        ]
        send(own_kafka, more)
        found = wait_for(own_kafka, RESULTS, len(locally(logs + ends + more)), still)
        assert stopped.poll() is None
    assert by_id(found) == locally(logs + ends + more)
    assert {message.value for message in found} == set(by_id(found).values()), "what comes twice is the same"
