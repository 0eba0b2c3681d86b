"""docs/shipping.md: rsyslog and syslog-ng run by the configurations that are shown, and send to a real Kafka."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka import KafkaConsumer

from schedmate_records import LogChunk, Position
from streams.accept import accept
from streams.transport import Message
from tests.servers import require
from tests.servers.kafka import Kafka

from .pages import ROOT, blocks

pytestmark = pytest.mark.kafka

FILES = ROOT / ".cache" / "shippers"
BLOCKS = blocks((ROOT / "docs" / "shipping.md").read_text())
LINES = ["step 1 loss 2.0", '  "quoted" \\ and ü', "\x1b[31mred\tline", "x" * 9000, "0123", "last"]


def rsyslog(configuration: str, directory: Path) -> list[str]:
    (directory / "work").mkdir()
    file = directory / "rsyslog.conf"
    file.write_text(configuration.replace("/var/spool/rsyslog", str(directory / "work")))
    plugins = f"{FILES}/usr/lib/x86_64-linux-gnu/rsyslog"
    return [f"{FILES}/usr/sbin/rsyslogd", "-n", "-f", str(file), "-i", str(directory / "pid"), "-M", plugins]


def syslog_ng(configuration: str, directory: Path) -> list[str]:
    file = directory / "syslog-ng.conf"
    file.write_text(configuration)
    paths = ["-f", file, "-R", directory / "state", "-p", directory / "pid", "-c", directory / "control"]
    command = [f"{FILES}/usr/sbin/syslog-ng", "-F", "--no-caps", *map(str, paths)]
    return [*command, "--module-path", str(modules())]


def modules() -> Path:
    (found,) = (FILES / "usr" / "lib" / "syslog-ng").glob("[0-9]*")
    return found


@pytest.fixture(params=["rsyslogd", "syslog-ng"])
def shipped(request: pytest.FixtureRequest, kafka: Kafka, tmp_path: Path) -> Iterator[str]:
    name, shipper = request.param, rsyslog if request.param == "rsyslogd" else syslog_ng
    require((FILES / "usr" / "sbin" / name).exists(), name, "tests/servers/install.sh fetches it")
    (shown,) = [block for block in BLOCKS if block.startswith("module(load" if name == "rsyslogd" else "@version")]
    (tmp_path / "home" / "ada").mkdir(parents=True)
    configuration = shown.replace("/home", str(tmp_path / "home")).replace("localhost:9092", kafka.address)
    job = "4711" if name == "rsyslogd" else "4712"
    (tmp_path / "home" / "ada" / f"slurm-{job}.out").write_text("\n".join(LINES) + "\n")
    (tmp_path / "home" / "ada" / "slurm-notes.out").write_text("of no job\n")
    libraries = [
        FILES / path for path in ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "usr/lib", "usr/lib/syslog-ng")
    ]
    environment = os.environ | {"LD_LIBRARY_PATH": ":".join(map(str, [*libraries, modules()]))}
    process = subprocess.Popen(shipper(configuration, tmp_path), env=environment)
    yield job
    process.terminate()
    process.wait(30)


def test_its_lines_are_lines_of_their_job(shipped: str, kafka: Kafka) -> None:
    consumer = KafkaConsumer(bootstrap_servers=kafka.address, auto_offset_reset="earliest", consumer_timeout_ms=60_000)
    consumer.subscribe(["job-logs"])
    chunks: list[LogChunk] = []
    for message in consumer:
        if message.key != shipped.encode():
            continue
        record = accept(Message(Position("job-logs", 0, message.offset), message.key, message.value, 5.0))
        assert isinstance(record, LogChunk)
        chunks.append(record)
        if len(chunks) == len(LINES):
            break
    consumer.close()
    assert [line for chunk in chunks for line in chunk.lines] == LINES
    assert {chunk.job for chunk in chunks} == {shipped}
    assert all(chunk.node and chunk.time > 1_700_000_000 for chunk in chunks)
