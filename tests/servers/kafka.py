"""A real Apache Kafka broker (KRaft, one node) on loopback."""

import base64
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from streams.kafka import Connection, create_topics

from . import free_port, require

LIBS = Path(__file__).resolve().parents[2] / ".cache" / "kafka" / "libs"

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={directory}/logs
num.partitions=1
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
message.max.bytes=16777216
"""

LOG4J = """\
Configuration:
  Appenders:
    Console: {name: out, target: SYSTEM_OUT, PatternLayout: {pattern: "%d %p %c %m%n"}}
  Loggers:
    Root: {level: warn, AppenderRef: {ref: out}}
"""


@dataclass
class Kafka:
    """One broker. `start` and `kill` can be called again and again on the same data."""

    directory: Path
    port: int = field(default_factory=free_port)
    controller: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def connection(self) -> Connection:
        return Connection(brokers=(self.address,), bootstrap_timeout_s=5)

    def properties(self) -> str:
        return PROPERTIES.format(port=self.port, controller=self.controller, directory=self.directory)

    def format(self, *more: str) -> None:
        """Make its storage; `more` are further options of Kafka's own tool."""
        (self.directory / "server.properties").write_text(self.properties())
        (self.directory / "log4j2.yaml").write_text(LOG4J)
        # An id that began with a hyphen would be taken for an option.
        cluster = "A" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]
        subprocess.run(
            [
                *self._java(),
                "kafka.tools.StorageTool",
                "format",
                "-t",
                cluster,
                "-c",
                self.directory / "server.properties",
                *more,
            ],
            check=True,
            capture_output=True,
        )

    def start(self) -> None:
        output = (self.directory / "broker.log").open("ab")
        self.process = subprocess.Popen(
            [*self._java(), "kafka.Kafka", self.directory / "server.properties"], stdout=output, stderr=output
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self.directory / "broker.log").read_text()[-3000:]) from None
                time.sleep(0.1)

    def kill(self, how: int = signal.SIGKILL) -> None:
        if self.process:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None

    def create_topics(self, partitions: int = 4) -> None:
        create_topics(self.connection, partitions, replication=1)

    def _java(self) -> list[str]:
        options = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        logging = f"-Dlog4j2.configurationFile={self.directory}/log4j2.yaml"
        return ["java", *options, logging, "-cp", f"{LIBS}/*"]


def require_kafka() -> None:
    """Fail in CI, and skip elsewhere, where Java or Kafka's jars are missing."""
    require(shutil.which("java") is not None, "java", "Install a Java 17 runtime, or run make test as root.")
    require(
        any(LIBS.glob("kafka_2.13-*.jar")),
        "Apache Kafka",
        "Run tests/servers/install.sh: it fetches the jars through Maven.",
    )


def start_kafka(directory: Path) -> Kafka:
    """Start a broker whose data lie in `directory`."""
    require_kafka()
    broker = Kafka(directory)
    broker.format()
    broker.start()
    return broker


@pytest.fixture(scope="session")
def kafka() -> Iterator[Kafka]:
    """One broker for all tests that leave it running; each uses jobs and groups of its own."""
    with tempfile.TemporaryDirectory(prefix="kafka-", dir=os.environ.get("TMPDIR")) as directory:
        broker = start_kafka(Path(directory))
        try:
            broker.create_topics()
            yield broker
        finally:
            broker.kill()


@pytest.fixture
def own_kafka(tmp_path: Path) -> Iterator[Kafka]:
    """A broker of its own for a test that kills it, or that needs empty topics."""
    broker = start_kafka(tmp_path)
    try:
        broker.create_topics()
        yield broker
    finally:
        broker.kill()
