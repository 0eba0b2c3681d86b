"""Bad input and bad surroundings: one clear error or a dead letter, and the stream goes on."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedmate_records import EventKind, JobEvent, LogChunk, encode
from sinks.clickhouse.client import open_client
from streams.kafka import KafkaProducer, check_topics
from streams.kafka.admin import admin_client
from streams.transport import Outgoing, outgoing
from tests.servers.clickhouse import ClickHouseServer
from tests.servers.kafka import Kafka
from tests.streams.runtimes.workers import ROOT, command

pytestmark = [pytest.mark.kafka, pytest.mark.clickhouse, pytest.mark.slow]


def output_of_refusal(broker: Kafka, *arguments: str, **environment: str) -> str:
    """Run a command that must refuse: exit code 2 (or 1 for a check), one short text, no traceback."""
    chosen = {"SCHEDMATE_KAFKA__BROKERS": broker.address, **environment}
    line = [sys.executable, "-m", "schedmate", *arguments]
    done = subprocess.run(
        line, env=os.environ | chosen, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_garbage_becomes_dead_letters_and_the_rest_goes_on(
    own_kafka: Kafka, clickhouse: ClickHouseServer, tmp_path: Path
) -> None:
    garbage = {
        "job-logs": [b'{"lines": 5}', encode(chunk("j", 0)).replace(b'"v":1', b'"v":7')],
        "job-events": [b"", b"\xff\xfe\x00", b'{"kind": "exploded"}'],
        "job-metrics": [b"[]", b'{"v":1}'],
        "failures": [b"null"],
        "gpu-metrics": [b'{"v":1,"id":5}'],
    }
    producer = KafkaProducer(own_kafka.connection)
    for topic, values in garbage.items():
        for value in values:
            producer.send(Outgoing(topic, b"j", value)).result(20)
    producer.send(Outgoing("job-logs", None, b"whose line is this?")).result(20)
    for number in range(3):
        producer.send(outgoing(chunk("j", number))).result(20)
    ended = JobEvent(id="e", job="j", kind=EventKind.ENDED, time=50.0, exit_code=0)
    producer.send(outgoing(ended)).result(20)
    producer.close()
    expected = sum(map(len, garbage.values())) + 1
    environment = {"SCHEDMATE_CLICKHOUSE__URL": clickhouse.url, "SCHEDMATE_REDIS__URL": ""}
    log = tmp_path / "commands.log"
    with command(own_kafka, "migrate", log=log, **environment) as migrating:
        assert migrating.wait(60) == 0
    with command(own_kafka, "worker", log=log, **environment), command(own_kafka, "sink", log=log, **environment):
        client = open_client(clickhouse.url)
        deadline = time.monotonic() + 60
        while True:
            letters = client.query("SELECT topic, reason, value FROM dead_letters FINAL").result_rows
            metrics = client.query("SELECT max(step) FROM job_metrics").result_rows[0][0]
            if (len(letters) >= expected and metrics == 30) or time.monotonic() > deadline:
                break
            time.sleep(0.3)
        client.close()
    assert len(letters) == expected, log.read_text()[-3000:]
    assert metrics == 30, "the good records after the bad ones were read"
    assert {topic for topic, _, _ in letters} == set(garbage)
    assert all("expected" in reason for _, reason, _ in letters)


def chunk(job: str, number: int) -> LogChunk:
    lines = [f"step {step} | loss 0.5 | step_time 0.1 s" for step in range(number * 10 + 1, number * 10 + 11)]
    first = number * 10 + 1
    return LogChunk(job=job, producer="p", seq=number, lines=lines, time=10.0, first_line=first, first_piece=first)


def test_a_worker_refuses_topics_with_different_partitions(own_kafka: Kafka) -> None:
    with admin_client(own_kafka.connection, "add partitions") as admin:
        admin.create_partitions({"job-events": 7})
    deadline = time.monotonic() + 20
    while not check_topics(own_kafka.connection) and time.monotonic() < deadline:
        time.sleep(0.2)  # the broker's metadata follow a little later
    said = output_of_refusal(own_kafka, "worker")
    assert "expected the same number of partitions" in said
    assert "job-events 7" in said
    assert "kafka-topics.sh --alter" in output_of_refusal(own_kafka, "topics", "check")


def test_a_sink_without_our_tables_says_what_to_do(own_kafka: Kafka, tmp_path: Path) -> None:
    producer = KafkaProducer(own_kafka.connection)
    producer.send(outgoing(JobEvent(id="e", job="j", kind=EventKind.STARTED, time=1.0))).result(20)
    producer.close()
    said = output_of_refusal(
        own_kafka, "sink", SCHEDMATE_CLICKHOUSE__URL=f"chdb://{tmp_path}/empty", SCHEDMATE_REDIS__URL=""
    )
    assert "schedmate migrate" in said


def test_without_a_broker_a_command_says_so() -> None:
    """Services wait for one (`test_poison.py`)."""
    said = output_of_refusal(Kafka(Path("/nonexistent"), port=1), "topics", "check")
    assert "nothing listens at 127.0.0.1:1" in said
