"""A real Apache Kafka broker (KRaft) on loopback, alone or as one of several."""

import atexit
import base64
import functools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from streams.kafka import Connection, create_topics
from tests.servers import free_port, require

LIBS = Path(__file__).resolve().parents[2] / ".cache" / "kafka" / "libs"

PROPERTIES = """\
process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{advertised}
controller.listener.names=CONTROLLER
log.dirs={directory}/logs
num.partitions=1
auto.create.topics.enable=false
offsets.topic.replication.factor={replication}
offsets.topic.num.partitions=4
transaction.state.log.replication.factor={replication}
transaction.state.log.min.isr={in_sync}
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor={replication}
share.coordinator.state.topic.min.isr={in_sync}
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
min.insync.replicas={in_sync}
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
    """One broker. `start` and `kill` can be called again and again on the same data.

    `advertised` is the port that clients are sent to, where it is not the broker's own; `voters` names the controllers of all
    brokers (`node@host:port`), where there are several. `heap_mb` is the most that Java's heap grows to, in MiB.
    """

    directory: Path
    port: int = field(default_factory=free_port)
    controller: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    node: int = 1
    advertised: int = 0
    voters: tuple[str, ...] = ()
    heap_mb: int = 512

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def connection(self) -> Connection:
        return Connection(brokers=(self.address,), bootstrap_timeout_s=5)

    @property
    def voter(self) -> str:
        return f"{self.node}@127.0.0.1:{self.controller}"

    def properties(self) -> str:
        voters = self.voters or (self.voter,)
        return PROPERTIES.format(
            node=self.node,
            port=self.port,
            advertised=self.advertised or self.port,
            controller=self.controller,
            voters=",".join(voters),
            replication=len(voters),
            in_sync=(len(voters) + 1) // 2,
            directory=self.directory,
        )

    def format(self, *more: str, cluster: str = "") -> None:
        """Make its storage; `more` are further options of Kafka's own tool."""
        self.write_settings()
        subprocess.run(
            [
                *self._java(),
                "kafka.tools.StorageTool",
                "format",
                "-t",
                cluster or new_cluster(),
                "-c",
                self.directory / "server.properties",
                *more,
            ],
            check=True,
            capture_output=True,
        )

    def write_settings(self) -> None:
        (self.directory / "server.properties").write_text(self.properties())
        (self.directory / "log4j2.yaml").write_text(LOG4J)

    def start(self, deadline_s: float = 60.0) -> None:
        self.launch()
        self.wait(deadline_s)

    def launch(self) -> None:
        output = (self.directory / "broker.log").open("ab")
        self.process = subprocess.Popen(
            [*self._java(), "kafka.Kafka", self.directory / "server.properties"], stdout=output, stderr=output
        )

    def wait(self, deadline_s: float = 60.0) -> None:
        """Return once it answers: one of several brokers does so when most of them are there."""
        assert self.process is not None
        deadline = time.monotonic() + deadline_s
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
        options = [f"-Xmx{self.heap_mb}m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        logging = f"-Dlog4j2.configurationFile={self.directory}/log4j2.yaml"
        return ["java", *options, logging, "-cp", f"{LIBS}/*"]


def new_cluster() -> str:
    """Return an id for a cluster."""
    # One that began with a hyphen would be taken for an option.
    return "A" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]


def start_kafka(directory: Path) -> Kafka:
    """Start a broker whose data lie in `directory`."""
    require_kafka()
    broker = Kafka(directory)
    broker.write_settings()
    shutil.copytree(_formatted(), directory / "logs")
    broker.start()
    return broker


@functools.cache
def _formatted() -> Path:
    """Return the storage of a broker that was never started: Kafka's tool takes as long to make one as the broker to start."""
    directory = Path(tempfile.mkdtemp(prefix="kafka-formatted-", dir=os.environ.get("TMPDIR")))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    Kafka(directory).format()
    return directory / "logs"


def require_kafka() -> None:
    """Fail or skip where Java or the broker's jars are missing."""
    require(shutil.which("java") is not None, "java", "Install a Java 17 runtime, or run make test as root.")
    require(
        any(LIBS.glob("kafka_2.13-*.jar")),
        "Apache Kafka",
        "Run tests/servers/install.sh: it fetches the jars through Maven.",
    )


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


@contextmanager
def refusing(address: str) -> Iterator[list[None]]:
    """Break every connection to `address` off; yield a list that grows by one for each."""
    host, _, port = address.rpartition(":")
    tries: list[None] = []
    server = socket.create_server((host, int(port)))

    def serve() -> None:
        while True:
            try:
                server.accept()[0].close()
            except OSError:
                return
            tries.append(None)

    serving = threading.Thread(target=serve)
    serving.start()
    try:
        yield tries
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        serving.join()
