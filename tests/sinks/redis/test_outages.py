"""A Redis that is away, full, of somebody else, or holds something else."""

import itertools
import threading
from collections.abc import Iterator

import pytest
import redis

from schedmate_records import Position
from sinks import SinkRejected, SinkUnavailable
from sinks.redis.connect import check_redis, open_redis, translate_errors
from sinks.redis.keys import Keys
from sinks.redis.read_state import read_job
from sinks.redis.state import RedisState
from streams.resilience import Outage, retry
from tests.metric_values import value
from tests.servers import free_port
from tests.servers.redis import RedisServer

from .store import Store, event, metric, prefixes, store

__all__ = ["store"]

pytestmark = pytest.mark.redis


def test_redis_away_holds_back_and_comes_back(redis_store: RedisServer) -> None:
    client = open_redis(redis_store.url, timeout_s=1)
    store = Store(client, f"test{next(prefixes)}:")
    store.update(event("started", 0))
    redis_store.kill()
    with pytest.raises(SinkUnavailable):
        store.update(metric(1, 1))
    assert value(store.state.metrics.failures) == 1
    batch = [store.placed(metric(1, 1))]
    tries = itertools.count()

    def again() -> None:
        if next(tries) == 2:
            redis_store.start()
        store.state.update(batch)

    outage = Outage("Redis", first_s=0.01, limit_s=0.02)
    retry(again, outage, on=SinkUnavailable, stop=threading.Event())
    assert store.job().step == 1
    assert value(outage.metrics.retries) == 2


def test_a_key_that_holds_something_else_is_named(store: Store) -> None:
    store.client.set(Keys(store.prefix).job("7"), "mine")
    with pytest.raises(SinkRejected, match="WRONGTYPE"):
        store.update(event("started", 0))


def test_a_full_redis_is_waited_for(store: Store) -> None:
    store.client.config_set("maxmemory", "1")
    try:
        with pytest.raises(SinkUnavailable):
            store.update(event("started", 0))
    finally:
        store.client.config_set("maxmemory", "0")


def test_a_wrong_password_is_refused_for_good(store: Store, redis_store: RedisServer) -> None:
    store.client.config_set("requirepass", "right")
    try:
        for password in ("wrong", ""):
            with (
                open_redis(redis_store.url, password=password) as client,
                pytest.raises(SinkRejected, match="password"),
            ):
                RedisState(client).update([store.placed(event("started", 0))])
    finally:
        with open_redis(redis_store.url, password="right") as client:
            client.config_set("requirepass", "")


@pytest.mark.parametrize("url", ["localhost:6379", "http://localhost", "redis://:secret@localhost"])
def test_addresses_of_another_form_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="expected") as error:
        open_redis(url)
    assert "secret" not in str(error.value)


def test_nobody_there() -> None:
    with (
        open_redis(f"redis://127.0.0.1:{free_port()}/0") as client,
        pytest.raises(SinkUnavailable, match="nothing listens at 127"),
    ):
        read_job(client, "7")


@pytest.fixture(scope="module")
def cluster_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One node of a Redis Cluster, without slots."""
    server = RedisServer(
        tmp_path_factory.mktemp("cluster"), options=["--cluster-enabled", "yes", "--cluster-port", str(free_port())]
    )
    server.start()
    yield server
    server.kill()


@pytest.mark.parametrize("binary", [False, True])
def test_a_redis_cluster_is_refused(cluster_node: RedisServer, binary: bool) -> None:
    with (
        open_redis(cluster_node.url, binary=binary) as client,
        pytest.raises(SinkRejected, match="expected one Redis server, got a node of a Redis Cluster"),
    ):
        check_redis(client)


def test_writing_to_and_reading_from_a_redis_cluster_is_refused(cluster_node: RedisServer) -> None:
    with open_redis(cluster_node.url) as client:
        with pytest.raises(SinkRejected, match="Redis Cluster"):
            RedisState(client).update([(Position("topic", 0, 1), metric(1, 1))])
        with pytest.raises(SinkRejected, match="Redis Cluster"):
            read_job(client, "7")


@pytest.mark.parametrize("error", ["MOVED 5 127.0.0.1:1", "ASK 5 127.0.0.1:1", "CROSSSLOT Keys in request"])
def test_an_error_of_a_redis_cluster_is_explained(store: Store, error: str) -> None:
    with pytest.raises(SinkRejected, match="not in cluster mode"), translate_errors(store.client, "writing"):
        raise redis.ResponseError(error)


def test_a_server_is_not_a_cluster(redis_store: RedisServer) -> None:
    for protocol in (2, 3):
        with open_redis(f"{redis_store.url}?protocol={protocol}") as client:
            check_redis(client)
