"""The real servers, each behind a proxy: clients see the proxies alone."""

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.chaos.proxy import Proxy
from streams.kafka import Connection, create_topics
from tests.servers import free_port
from tests.servers.clickhouse import ClickHouseServer, clickhouse_server
from tests.servers.kafka import Kafka, new_cluster, require_kafka
from tests.servers.redis import RedisServer, redis_server
from tests.servers.slurm import Slurm
from tests.servers.slurm import running as slurm_running

HEAP_MB = {1: 512, 3: 256}
"""Heap of a broker, by how many there are."""
UP_S = 300.0
"""How long a broker may take to come up on a busy host. One of three waits until its own session of before has run out."""


@dataclass(frozen=True)
class Server:
    """A server as faults see it.

    Attributes:
        name: `broker-1`, `clickhouse`, `redis`.
        proxy: What stands between it and its clients.
        pid: Returns its process.
        kill: Ends it by SIGKILL.
        start: Starts it again on its data.
    """

    name: str
    proxy: Proxy
    pid: Callable[[], int]
    kill: Callable[[], None]
    start: Callable[[], None]


class Controller:
    """Slurm's controller as faults see it.

    Args:
        slurm: The cluster.
    """

    name = "slurmctld"

    def __init__(self, slurm: Slurm) -> None:
        self._slurm = slurm

    def pid(self) -> int:
        """Return its process."""
        return self._slurm.controller_pid()

    def kill(self) -> None:
        """End it, in order: one that is killed forgets what it had acknowledged in the last seconds, and no watcher can know that."""
        self._slurm.stop_controller()

    def start(self) -> None:
        """Start it again on its saved state."""
        self._slurm.start_controller()


@dataclass(frozen=True)
class Servers:
    """All servers, and how to reach them: all but Slurm through their proxies."""

    all: tuple[Server, ...]
    controller: Controller
    connection: Connection
    clickhouse_url: str
    redis_url: str
    slurm_conf: Path


@contextmanager
def running(scratch: Path, brokers: int, partitions: int) -> Iterator[Servers]:
    """Start the servers, with `brokers` brokers, and create the topics."""
    with ExitStack() as undo:
        kafkas = list(_kafka(scratch, brokers, undo))
        (scratch / "clickhouse").mkdir()
        clickhouse = undo.enter_context(clickhouse_server(scratch / "clickhouse"))
        redis = undo.enter_context(redis_server(scratch))
        slurm = undo.enter_context(slurm_running())
        front, cache = _proxy(_port(clickhouse.url), undo), _proxy(_port(redis.url), undo)
        connection = Connection(brokers=tuple(f"127.0.0.1:{proxy.port}" for _, proxy in kafkas))
        create_topics(connection, partitions, replication=brokers)
        yield Servers(
            (
                *(_broker(*each) for each in kafkas),
                Server("clickhouse", front, lambda: clickhouse.pid, clickhouse.kill, clickhouse.start),
                Server("redis", cache, lambda: redis.pid, redis.kill, redis.start),
            ),
            Controller(slurm),
            connection,
            _behind(clickhouse, front),
            _behind(redis, cache),
            slurm.configuration,
        )


def _kafka(scratch: Path, count: int, undo: ExitStack) -> Iterator[tuple[Kafka, Proxy]]:
    require_kafka()
    cluster, made = new_cluster(), []
    for node in range(1, count + 1):
        directory, port = scratch / f"broker-{node}", free_port()
        directory.mkdir()
        proxy = _proxy(port, undo)
        made.append((Kafka(directory, port, node=node, advertised=proxy.port, heap_mb=HEAP_MB[count]), proxy))
    voters = tuple(broker.voter for broker, _ in made)
    for broker, _ in made:
        broker.voters = voters
        broker.format(cluster=cluster)
        undo.callback(broker.kill)
        broker.launch()
    for broker, proxy in made:
        broker.wait(UP_S)
        yield broker, proxy


def _broker(kafka: Kafka, proxy: Proxy) -> Server:
    def pid() -> int:
        assert kafka.process is not None
        return kafka.process.pid

    return Server(f"broker-{kafka.node}", proxy, pid, lambda: kafka.kill(signal.SIGKILL), partial(kafka.start, UP_S))


def _proxy(target: int, undo: ExitStack) -> Proxy:
    proxy = Proxy(target)
    undo.callback(proxy.close)
    return proxy


def _port(url: str) -> int:
    return urlsplit(url).port or 0


def _behind(server: ClickHouseServer | RedisServer, proxy: Proxy) -> str:
    return server.url.replace(str(_port(server.url)), str(proxy.port))
