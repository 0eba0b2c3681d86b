"""Lines of a job from Kafka through `sink` to `logs`, on real servers."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedmate_records import LogChunk
from streams.kafka import KafkaProducer
from streams.transport import Outgoing, outgoing
from tests.servers.clickhouse import ClickHouseServer
from tests.servers.kafka import Kafka

pytestmark = [pytest.mark.kafka, pytest.mark.clickhouse, pytest.mark.slow, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
JOB = "searched"


def test_the_sink_stores_lines_that_logs_finds(kafka: Kafka, clickhouse: ClickHouseServer) -> None:
    environment = os.environ | {
        "SCHEDMATE_CONFIG": "/dev/null",
        "SCHEDMATE_KAFKA__BROKERS": kafka.address,
        "SCHEDMATE_KAFKA__GROUP": "job-lines-test",
        "SCHEDMATE_CLICKHOUSE__URL": clickhouse.url,
        "SCHEDMATE_CLICKHOUSE__JOB_LINES_DAYS": "3",
        "SCHEDMATE_REDIS__URL": "",
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "schedmate", *arguments]
        return subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )

    assert run("migrate").returncode == 0
    producer = KafkaProducer(kafka.connection)
    for seq in range(3):
        lines = [f"step {seq * 10 + index}" for index in range(10)]
        chunk = LogChunk(
            job=JOB,
            producer="p",
            seq=seq,
            first_line=seq * 10 + 1,
            first_piece=seq * 10 + 1,
            lines=lines,
            time=time.time(),
        )
        for _ in range(2):  # as after an acknowledgement that was lost
            producer.send(outgoing(chunk)).result(30)
    producer.send(Outgoing("job-logs", JOB.encode(), b'{"lines": "no list"}')).result(30)
    producer.send(Outgoing("job-logs", JOB.encode(), b"Segmentation fault")).result(30)
    producer.close()
    with subprocess.Popen([sys.executable, "-m", "schedmate", "sink"], env=environment, cwd=ROOT) as sink:
        deadline = time.monotonic() + 240
        # Lines of different producers are stored one after the other.
        while (shown := run("logs", JOB).stdout).count(" | ") < 31 and time.monotonic() < deadline:
            assert sink.poll() is None
            time.sleep(0.5)
        sink.send_signal(signal.SIGTERM)
        assert sink.wait(60) == 0
    texts = [line.partition(" | ")[2] for line in shown.splitlines() if " | " in line]
    assert texts == [*(f"step {number}" for number in range(30)), "Segmentation fault"]
    assert "step 17" in run("logs", JOB, "--grep", "step 17$").stdout
