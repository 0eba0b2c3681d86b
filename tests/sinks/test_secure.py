"""Redis and ClickHouse over TLS, for users with passwords: what is wrong is said, and is neither waited for nor taken for an outage."""

from collections.abc import Iterator

import pytest

from sinks import SinkRejected, SinkUnavailable
from sinks.clickhouse.client import open_client
from sinks.clickhouse.migrate import migrate
from sinks.redis.connect import open_redis
from sinks.redis.read_state import read_jobs
from sinks.redis.state import RedisState
from tests.servers import free_port
from tests.servers.certificates import Authority
from tests.servers.clickhouse import ClickHouseServer
from tests.servers.redis import RedisServer

from .made import metric

PASSWORD = "hunter2"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(Authority(tmp_path_factory.mktemp("other")).cert)


@pytest.fixture(scope="module")
def redis_tls(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[RedisServer]:
    users = {
        "default": "off",
        "sink": f"on >{PASSWORD} ~schedmate:* +@connection +@read +@write +@scripting -@dangerous",
        "reader": f"on >{PASSWORD} %R~schedmate:* +@connection +@read -@dangerous",
    }
    server = RedisServer(tmp_path_factory.mktemp("redis"), tls=authority, users=users)
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def clickhouse_tls(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[ClickHouseServer]:
    server = ClickHouseServer(tmp_path_factory.mktemp("clickhouse"), tls=authority, login=("sink", PASSWORD))
    server.start()
    yield server
    server.kill()


def as_user(server: RedisServer, user: str) -> str:
    return server.url.replace("rediss://", f"rediss://{user}@")


@pytest.mark.redis
def test_redis_takes_each_user_for_what_it_may_do(redis_tls: RedisServer, authority: Authority) -> None:
    ca = str(authority.cert)
    with open_redis(as_user(redis_tls, "sink"), password=PASSWORD, ca_cert=ca) as writer:
        RedisState(writer).update([metric(1)])
    with open_redis(as_user(redis_tls, "reader"), password=PASSWORD, ca_cert=ca) as reader:
        assert read_jobs(reader)
        with pytest.raises(SinkRejected, match=r"refuses this user.*rights"):
            RedisState(reader).update([metric(2)])


@pytest.mark.redis
def test_redis_says_what_is_wrong(redis_tls: RedisServer, authority: Authority, other: str) -> None:
    good, ca = as_user(redis_tls, "reader"), str(authority.cert)
    wrong = [
        (SinkRejected, good, "x", ca, "refuses this user.*password"),
        (SinkRejected, as_user(redis_tls, "nobody"), PASSWORD, ca, "refuses this user.*password"),
        (SinkRejected, good, PASSWORD, other, "an authority that is not trusted here"),
        (SinkRejected, good.replace("127.0.0.1", "localhost"), PASSWORD, ca, "is for another host name"),
        (SinkUnavailable, f"rediss://127.0.0.1:{free_port()}/0", PASSWORD, ca, "nothing listens at 127.0.0.1:"),
        (SinkUnavailable, "redis://no.such.host.invalid:1/0", "", "", "no host has the name in no.such.host.invalid"),
        (SinkUnavailable, good.replace("rediss", "redis"), PASSWORD, "", "reading the jobs from Redis"),
    ]
    for kind, url, password, authorities, said in wrong:
        with (
            open_redis(url, password=password, ca_cert=authorities) as client,
            pytest.raises(kind, match=said) as caught,
        ):
            read_jobs(client)
        assert PASSWORD not in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.clickhouse
def test_clickhouse_says_what_is_wrong(clickhouse_tls: ClickHouseServer, authority: Authority, other: str) -> None:
    good, ca = clickhouse_tls.url, str(authority.cert)
    client = open_client(good, password=PASSWORD, ca_cert=ca)
    assert migrate(client)
    client.close()
    wrong = [
        (SinkRejected, good, "x", ca, "refuses this user"),
        (SinkRejected, good.replace("sink@", "nobody@"), PASSWORD, ca, "refuses this user"),
        (SinkRejected, good, PASSWORD, other, "an authority that is not trusted here"),
        (SinkRejected, good.replace("127.0.0.1", "localhost"), PASSWORD, ca, "is for another host name"),
        (SinkUnavailable, f"https://127.0.0.1:{free_port()}/x", PASSWORD, ca, "nothing listens at 127.0.0.1:"),
        (SinkUnavailable, "http://no.such.host.invalid/x", PASSWORD, "", "no host has the name in no.such.host.invalid"),
        (SinkUnavailable, good.replace("https", "http"), PASSWORD, "", "broke the connection off"),
    ]  # fmt: skip
    for kind, url, password, authorities, said in wrong:
        with pytest.raises(kind, match=said) as caught:
            open_client(url, password=password, ca_cert=authorities, connect_timeout_s=2, timeout_s=5)
        assert PASSWORD not in str(caught.value)
        assert "\n" not in str(caught.value)
