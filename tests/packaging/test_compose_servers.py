"""The servers of docker-compose.yml, started for real with the arguments, environment and secrets that stand there."""

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import kafka.errors
import pytest
import redis

from schedmate.connections import kafka_connection
from schedmate.settings.settings import load
from streams.kafka import Connection, create_topics, list_topics
from streams.topics import LAYOUTS
from streams.transport import TransportError
from tests.servers import free_port, require
from tests.servers.kafka import LIBS, Kafka

NO_PROPERTIES = {"KAFKA_OPTS", "KAFKA_HEAP_OPTS"}


def properties(environment: Mapping[str, Any]) -> str:
    """Kafka's properties as its image makes them: KAFKA_LOG_DIRS becomes log.dirs."""
    chosen = {name: value for name, value in environment.items() if name.startswith("KAFKA_")}
    return "".join(
        f"{name.removeprefix('KAFKA_').lower().replace('_', '.')}={value}\n"
        for name, value in chosen.items()
        if name not in NO_PROPERTIES
    )


@dataclass(frozen=True)
class Broker:
    inside: str
    host: str


@pytest.fixture(scope="module")
def broker(stack: Mapping[str, Any], secrets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    require(shutil.which("java") is not None and LIBS.is_dir(), "Apache Kafka", "Run tests/servers/install.sh.")
    environment = stack["services"]["kafka"]["environment"]
    directory = tmp_path_factory.mktemp("kafka")
    inside = free_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", environment["KAFKA_OPTS"].replace("/run/secrets", str(secrets)))
        own = Kafka(directory)
        own.format()
        text = properties(environment)
        for name, here in (
            ("kafka:19092", f"127.0.0.1:{inside}"),
            (":19092", f"127.0.0.1:{inside}"),
            ("localhost:29093", f"127.0.0.1:{own.controller}"),
            ("localhost:9092", own.address),
            (":9092", own.address),
            ("/var/lib/kafka/data", f"{directory}/logs"),
        ):
            text = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\d)", here, text)
        (directory / "server.properties").write_text(text)
        own.start()
    try:
        yield Broker(f"127.0.0.1:{inside}", own.address)
    finally:
        own.kill()


@pytest.mark.kafka
def test_our_services_reach_kafka_and_make_their_topics(broker: Broker) -> None:
    inside = Connection(brokers=(broker.inside,))
    create_topics(inside, partitions=2, replication=1)
    assert set(list_topics(inside)) == {layout.name for layout in LAYOUTS}


@pytest.mark.kafka
def test_a_client_on_the_host_needs_the_password(
    broker: Broker, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "BROKERS": broker.host,
        "SECURITY": "SASL_PLAINTEXT",
        "SASL_MECHANISM": "PLAIN",
        "USERNAME": "schedmate",
        "PASSWORD_FILE": str(secrets / "kafka_password"),
    }.items():
        monkeypatch.setenv(f"SCHEDMATE_KAFKA__{name}", value)
    known = replace(kafka_connection(load().settings.kafka), bootstrap_timeout_s=3)
    list_topics(known)
    for stranger in (replace(known, sasl_password="wrong"), Connection(known.brokers, bootstrap_timeout_s=3)):
        with pytest.raises((TransportError, kafka.errors.KafkaError)):
            list_topics(stranger)


def is_healthy(stack: Mapping[str, Any], address: str) -> bool:
    """Run the health check of the stack's Kafka against `address`."""
    kind, *command = stack["services"]["kafka"]["healthcheck"]["test"]
    assert (kind, command[0]) == ("CMD", "bash"), "no JVM is started"
    here = [part.replace("kafka/19092", address.replace(":", "/")).replace("-t 5", "-t 1") for part in command]
    return subprocess.run(here, check=False, capture_output=True, timeout=30).returncode == 0


@pytest.mark.kafka
def test_kafka_is_healthy_while_it_answers(broker: Broker, stack: Mapping[str, Any]) -> None:
    assert is_healthy(stack, broker.inside)


def test_kafka_is_not_healthy_where_nothing_answers(stack: Mapping[str, Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        assert not is_healthy(stack, address), "it accepts connections and does not answer"
    assert not is_healthy(stack, address)


@dataclass
class Stored:
    """Redis with the arguments of the stack, on `port` of loopback and with its data in `directory`."""

    command: list[str]
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while True:
            try:
                redis.Redis(port=self.port, username="health", password="any").ping()
                return
            except redis.ConnectionError:
                assert self.process.poll() is None, "redis-server ended"
                assert time.monotonic() < deadline, "redis-server does not answer"
                time.sleep(0.05)

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait()

    def client(self, secrets: Path) -> redis.Redis:
        return redis.Redis(port=self.port, username="schedmate", password=(secrets / "redis_password").read_text())


@pytest.fixture(scope="module")
def stored(stack: Mapping[str, Any], secrets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stored]:
    require(shutil.which("redis-server") is not None, "redis-server", "apt-get install redis-server.")
    port, data = free_port(), tmp_path_factory.mktemp("redis")
    command = [
        str(data) if part == "/data" else part.replace("/run/secrets", str(secrets))
        for part in stack["services"]["redis"]["command"]
    ]
    server = Stored([*command, "--port", str(port), "--bind", "127.0.0.1"], port)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.mark.redis
def test_the_health_check_passes_and_its_user_may_only_ping(stored: Stored, stack: Mapping[str, Any]) -> None:
    [_, check] = stack["services"]["redis"]["healthcheck"]["test"]
    answer = subprocess.run(
        ["sh", "-c", check.replace("redis-cli", f"redis-cli -p {stored.port}")], check=False, capture_output=True
    )
    assert answer.returncode == 0, answer
    for forbidden in (("GET", "a"), ("SET", "a", "b"), ("CONFIG", "GET", "*"), ("INFO",)):
        with pytest.raises(redis.exceptions.NoPermissionError):
            redis.Redis(port=stored.port, username="health", password="any").execute_command(*forbidden)


@pytest.mark.redis
def test_redis_refuses_clients_that_do_not_log_in(stored: Stored) -> None:
    for login in ({}, {"password": "any"}, {"username": "default", "password": ""}):
        with pytest.raises(redis.AuthenticationError):
            redis.Redis(port=stored.port, **login).ping()


@pytest.mark.redis
def test_our_services_write_to_redis_with_the_password(stored: Stored, secrets: Path) -> None:
    ours = stored.client(secrets)
    ours.set("schedmate:a", "b", ex=60)
    assert ours.get("schedmate:a") == b"b"
    with pytest.raises(redis.exceptions.NoPermissionError):
        ours.config_set("requirepass", "")
    with pytest.raises(redis.AuthenticationError):
        redis.Redis(port=stored.port, username="schedmate", password="wrong").ping()


@pytest.mark.redis
def test_transactions_survive_a_restart_of_redis(stored: Stored, secrets: Path) -> None:
    with stored.client(secrets).pipeline(transaction=True) as transaction:
        transaction.set("schedmate:one", "1").hset("schedmate:two", "field", "2").execute()
    stored.stop()
    stored.start()
    assert stored.client(secrets).get("schedmate:one") == b"1"
    assert stored.client(secrets).hget("schedmate:two", "field") == b"2"
