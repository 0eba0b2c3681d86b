"""Both runtimes: the same input gives the same records, by id; a killed worker changes nothing."""

import json
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from processors.job import JobProcessor
from processors.node import NodeProcessor
from schedmate_records import Record
from sinks.clickhouse.client import open_client
from streams.dead_letters import members
from streams.kafka import read_back
from streams.memory import MemoryBroker
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.transport import Message, outgoing
from tests.servers.clickhouse import ClickHouseServer, clickhouse_server
from tests.servers.kafka import Kafka, refusing

from .workers import (
    all_read,
    command,
    complaining,
    endings,
    send,
    start,
    training,
    until,
    values,
    wait_for,
)

RESULTS = ["job-metrics", "failures", "slowdowns", "alarms", "checkpoints", "estimates", "dead-letters"]


def by_id(messages: list[Message]) -> dict[str, bytes]:
    return {msgspec.json.decode(message.value)["id"]: message.value for message in messages}


def locally(records: list[Record], batch: int = 50, restart_every: int = 0) -> dict[str, bytes]:
    """Run the single-process runtime over `records`; a new worker takes over every so many batches."""
    broker = MemoryBroker(partitions=4)
    for record in records:
        broker.append(outgoing(record))
    worker, steps = LocalWorker(broker, [Engine(JobProcessor())]), 0
    while worker.step(limit=batch):
        steps += 1
        if restart_every and steps % restart_every == 0:
            worker = LocalWorker(broker, [Engine(JobProcessor())])
    return by_id([message for topic in RESULTS for message in broker.read(topic)])


def test_results_do_not_depend_on_batches_or_restarts() -> None:
    records = training(jobs=6, chunks=8) + endings(6)
    expected = locally(records)
    assert len(expected) >= 6 * 8, "a metric a chunk at least"
    assert any(name.startswith("failure/") for name in expected)
    assert any(name.startswith("estimate/") for name in expected)
    assert locally(records, batch=1) == expected
    assert locally(records, batch=7, restart_every=2) == expected


@pytest.mark.parametrize("batches", [1, 3, 1000])
def test_a_crash_before_the_commit_makes_the_same_records_again(batches: int) -> None:
    records = training(jobs=3, chunks=4) + endings(3)
    broker = MemoryBroker(partitions=4)
    for record in records:
        broker.append(outgoing(record))
    for limit in (batches, 1000):
        broker.committed.clear()  # the worker before died right before its commit
        worker = LocalWorker(broker, [Engine(JobProcessor())])
        for _ in range(limit):
            worker.step(limit=2)
    found = [message for topic in RESULTS for message in broker.read(topic)]
    assert by_id(found) == locally(records)
    assert {message.value for message in found} == set(by_id(found).values()), "what comes twice is the same"


@pytest.mark.kafka
def test_faust_makes_the_same_records(own_kafka: Kafka, tmp_path: Path) -> None:
    logs, ends, log = training(jobs=6, chunks=8), endings(6), tmp_path / "worker.log"
    before, expected = locally(logs), locally(logs + ends)
    with command(own_kafka, "worker", log=log):
        send(own_kafka, logs)
        wait_for(own_kafka, RESULTS, len(before), log)
        send(own_kafka, ends)
        found = wait_for(own_kafka, RESULTS, len(expected), log)
    assert by_id(found) == expected
    assert len(found) == len(expected), "no worker died, so no record was written twice"


@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_worker_that_comes_and_goes_leaves_the_others_states_in_memory(own_kafka: Kafka, tmp_path: Path) -> None:
    logs, ends = training(jobs=12, chunks=12), endings(12)
    before, expected = locally(logs), locally(logs + ends)
    part = len(logs) // 3
    stays, goes = tmp_path / "stays.log", tmp_path / "goes.log"
    with command(own_kafka, "worker", log=stays):
        send(own_kafka, logs[:part])
        until(lambda: values(own_kafka, RESULTS) > 0, stays)  # there is a group now
        until(lambda: all_read(own_kafka, "schedmate-worker"), stays)
        with command(own_kafka, "worker", log=goes) as second:
            until(lambda: members(own_kafka.connection, "schedmate-worker") == 2, goes)
            second_part = [logs[at : at + 4] for at in range(part, 2 * part, 4)]
            while second_part:  # what comes before it has its partitions goes to the first
                send(own_kafka, second_part.pop(0))
            until(lambda: bool(_restorations(goes)), goes)
            until(lambda: all_read(own_kafka, "schedmate-worker"), stays)
            second.terminate()
            assert second.wait(60) == 0
        send(own_kafka, logs[2 * part :])
        wait_for(own_kafka, RESULTS, len(before), stays)
        until(lambda: all_read(own_kafka, "schedmate-worker"), stays)
        send(own_kafka, ends)
        found = wait_for(own_kafka, RESULTS, len(expected), stays)
    assert by_id(found) == expected
    taken, kept = Counter(_restorations(goes)), Counter(_restorations(stays))
    assert taken
    assert kept.keys() - taken.keys(), "each had partitions"
    assert all(kept[part] == 1 for part in kept.keys() - taken.keys()), "two rebalances, and nothing was read again"
    assert all(kept[part] == 2 for part in kept.keys() & taken.keys()), "what the other one had is"


@pytest.mark.kafka
@pytest.mark.clickhouse
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_killed_workers_leave_exactly_the_right_rows(
    own_kafka: Kafka, clickhouse: ClickHouseServer, tmp_path: Path
) -> None:
    """SIGKILL of one of two workers, and of the sink, again and again, while jobs print."""
    logs, ends, log = training(jobs=12, chunks=60), endings(12), tmp_path / "commands.log"
    before, expected = locally(logs), locally(logs + ends)
    stored = {"SCHEDMATE_CLICKHOUSE__URL": clickhouse.url, "SCHEDMATE_REDIS__URL": ""}
    with command(own_kafka, "migrate", log=log, **stored) as migrating:
        assert migrating.wait(60) == 0
    running = [start(own_kafka, "worker", log=log), start(own_kafka, "worker", log=log)]
    running.append(start(own_kafka, "sink", log=log, **stored))
    try:
        part = len(logs) // 3
        for first in range(0, len(logs), part):
            already = values(own_kafka, RESULTS)
            send(own_kafka, logs[first : first + part])
            until(lambda already=already: values(own_kafka, RESULTS) > already, log)  # type: ignore[misc]
            for victim, name in ((running.pop(0), "worker"), (running.pop(), "sink")):
                assert victim.poll() is None, log.read_text()[-3000:]
                victim.kill()
                victim.wait()
                running.append(start(own_kafka, name, log=log, **stored))
        wait_for(own_kafka, RESULTS, len(before), log, seconds=90)
        # An end that overtakes lines which are read again would say more: a verdict without them first.
        until(lambda: all_read(own_kafka, "schedmate-worker"), log)
        send(own_kafka, ends)
        found = wait_for(own_kafka, RESULTS, len(expected), log)
        rows = _rows(own_kafka, clickhouse, len(expected), log)
    finally:
        for process in running:
            process.kill()
            process.wait()
    assert by_id(found) == expected
    assert len(found) < 2 * len(expected), "what repeats is what was in flight at a kill, not everything"
    assert sorted(rows) == sorted(expected), "each record is one row, and nothing else is there"


@pytest.mark.kafka
@pytest.mark.clickhouse
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_killed_broker_leaves_exactly_the_right_rows(own_kafka: Kafka, tmp_path: Path) -> None:
    """SIGKILL of the broker while a worker and a sink are at work; it comes back on the same data."""
    logs, log = training(jobs=8, chunks=30), tmp_path / "commands.log"
    expected = locally(logs)
    with clickhouse_server(tmp_path) as clickhouse:
        stored = {"SCHEDMATE_CLICKHOUSE__URL": clickhouse.url, "SCHEDMATE_REDIS__URL": ""}
        with command(own_kafka, "migrate", log=log, **stored) as migrating:
            assert migrating.wait(60) == 0
        with command(own_kafka, "worker", log=log), command(own_kafka, "sink", log=log, **stored) as sink:
            half = len(logs) // 2
            for part in (logs[:half], logs[half:]):
                already = values(own_kafka, RESULTS)
                send(own_kafka, part)
                wait_for(own_kafka, RESULTS, already + 1, log)
                own_kafka.kill()
                with refusing(own_kafka.address) as tries:
                    until(lambda tries=tries: len(tries) > 3, log)  # type: ignore[misc]
                own_kafka.start()
                assert sink.poll() is None, f"the sink did not wait for the broker: {log.read_text()[-3000:]}"
            found = wait_for(own_kafka, RESULTS, len(expected), log, seconds=90)
            rows = _rows(own_kafka, clickhouse, len(expected), log)
    assert by_id(found) == expected
    assert sorted(rows) == sorted(expected)


@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.timeout(240)
def test_killed_workers_tell_every_finding_and_come_to_the_same_verdicts(own_kafka: Kafka, tmp_path: Path) -> None:
    """SIGKILL of one of two workers, again and again, while jobs print and their node complains."""
    logs, ends, complaints, log = training(jobs=6, chunks=30), endings(6), complaining(30), tmp_path / "commands.log"
    broker = MemoryBroker(partitions=4)
    for record in [*logs, *complaints, *ends]:
        broker.append(outgoing(record))
    worker = LocalWorker(broker, [Engine(JobProcessor()), Engine(NodeProcessor())])
    while worker.step():
        pass
    expected = _reported(broker.read("node-findings"))
    assert len(expected) == 6 * 30, "every complaint reaches every job"
    running = [start(own_kafka, "worker", log=log), start(own_kafka, "worker", log=log)]
    try:
        for third in range(3):
            already = values(own_kafka, RESULTS)
            send(own_kafka, logs[third * 60 : third * 60 + 60])
            send(own_kafka, complaints[third * 10 : third * 10 + 10])
            until(lambda already=already: values(own_kafka, RESULTS) > already, log)  # type: ignore[misc]
            victim = running.pop(0)
            assert victim.poll() is None, log.read_text()[-3000:]
            victim.kill()
            victim.wait()
            running.append(start(own_kafka, "worker", log=log))
        send(own_kafka, ends)
        until(
            lambda: (
                _reported(list(read_back(own_kafka.connection, ["node-findings"]))) >= expected
                and _verdicts(list(read_back(own_kafka.connection, ["failures"]))) == _verdicts(broker.read("failures"))
            ),
            log,
            seconds=90,
        )
    finally:
        for process in running:
            process.kill()
            process.wait()
    assert _reported(list(read_back(own_kafka.connection, ["node-findings"]))) == expected
    verdicts = _verdicts(list(read_back(own_kafka.connection, ["failures"])))
    assert verdicts == _verdicts(broker.read("failures"))
    assert all(
        (verdict["source"], verdict["confirmed_by"]) == ("signature", ["node-logs"]) for verdict in verdicts.values()
    )


def _restorations(log: Path) -> list[tuple[str, int]]:
    """Return (state topic, partition) of each restoration that `log` tells of."""
    lines = [json.loads(line[line.index("{") :]) for line in log.read_text().splitlines() if "state_restored" in line]
    return [(line["topic"], line["partition"]) for line in lines]


def _reported(messages: list[Message]) -> set[str]:
    """Return the ids of the findings that were told to jobs."""
    return {found["id"] for message in messages if (found := msgspec.json.decode(message.value))["job"]}


def _verdicts(messages: list[Message]) -> dict[str, dict[str, object]]:
    """Return what is in force of each job, without what tells its place in the sequence of revisions."""
    newest: dict[str, dict[str, object]] = {}
    for verdict in sorted(
        (msgspec.json.decode(message.value) for message in messages), key=lambda each: each["revision"]
    ):
        newest[verdict["job"]] = {
            name: value for name, value in verdict.items() if name not in {"id", "revision", "root", "evidence"}
        }
    return newest


def _rows(broker: Kafka, clickhouse: ClickHouseServer, wanted: int, log: Path) -> list[str]:
    """Return the ids of all rows, unmerged, once there are as many as `wanted` and the sink has written all that it was sent."""
    client = open_client(clickhouse.url)
    tables = " UNION ALL ".join(
        f"SELECT id FROM {table}" for table in ("job_metrics", "failures", "slowdowns", "estimates", "dead_letters")
    )
    until(lambda: len(client.query(tables).result_rows) >= wanted and all_read(broker, "schedmate-sink"), log)
    rows = [str(row[0]) for row in client.query(tables).result_rows]
    client.close()
    return rows
