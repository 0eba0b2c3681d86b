"""The sink: what comes out of the processors and the bridge goes to ClickHouse and Redis."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from clickhouse_connect.driver.client import Client

from records import Decision, Failure, Position, Record
from resilience import Outage, retry
from schedmate.settings import ClickHouseSection, RedisSection, Settings, SettingsError, read_secret
from schedmate.telemetry import Telemetry
from sinks import SinkUnavailable
from sinks.clickhouse import ClickHouseWriter, open_client
from sinks.redis import RedisState, open_redis
from streams.spans import VERDICT, Span, Spans, about_verdict

if TYPE_CHECKING:
    import redis

Write = Callable[[Sequence[tuple[Position, Record]]], None]
DAY_S = 86_400


@dataclass(frozen=True)
class StoreWriter:
    """One store: how a batch is written (repeats change nothing), and whether it is away."""

    name: str
    write: Write
    outage: Outage


class Sinks:
    """Writes every batch to all stores, and holds the stream back while one of them is away."""

    def __init__(self, stores: Sequence[StoreWriter], stop: Event) -> None:
        self._stores = stores
        self._stop = stop

    def write(self, batch: Sequence[tuple[Position, Record]]) -> None:
        """Return once `batch` lasts in every store.

        Raises:
            SinkUnavailable: It was told to stop while a store was away; nothing of the batch may be taken as written.
            SinkRejected: A store will never take it: no tables, no access.
        """
        for store in self._stores:
            if batch:
                retry(partial(store.write, batch), store.outage, on=SinkUnavailable, stop=self._stop)

    def problems(self) -> list[str]:
        """Return what is wrong, for the health check."""
        return [f"{store.name} is away; the stream is held back" for store in self._stores if store.outage.ongoing]


def with_spans(write: Write, spans: Spans) -> Write:
    """Return what writes a batch and makes spans of it: of verdicts, and of decisions that follow from them."""

    def traced(batch: Sequence[tuple[Position, Record]]) -> None:
        began = time.time()
        write(batch)
        ended = time.time()
        for _, record in batch:
            if isinstance(record, Failure | Decision) and (about := about_verdict(record)):
                name = f"store {type(record).__name__.lower()}"
                spans(Span(about, name, began, ended, VERDICT, record.id))

    return traced


def clickhouse_opener(settings: ClickHouseSection) -> Callable[[], Client]:
    """Return what opens ClickHouse; it raises `SinkUnavailable`, `SinkRejected`, or `SettingsError` where the address is none."""
    password = settings.secret()

    def opened() -> Client:
        try:
            return open_client(settings.url, password=password, ca_cert=settings.ssl_cafile)
        except ValueError as error:
            raise SettingsError(f"clickhouse.url: {error}") from error

    return opened


def clickhouse_reader(
    settings: ClickHouseSection, limits: Mapping[str, str] | None = None
) -> Callable[[], Client]:
    """Return what opens ClickHouse for queries: as `clickhouse.reader` where one is named, and read-only as any user.

    `limits` are ClickHouse settings of every query. What is returned raises as that of `clickhouse_opener` does.
    """
    if settings.reader and not settings.url.startswith("chdb:"):
        url = _with_user(settings.url, settings.reader)
        password = read_secret(settings.reader_password_file) if settings.reader_password_file else ""
    else:
        url, password = settings.url, settings.secret()

    def opened() -> Client:
        try:
            return open_client(
                url, password=password, ca_cert=settings.ssl_cafile, settings=limits, read_only=True
            )
        except ValueError as error:
            raise SettingsError(f"clickhouse.url: {error}") from error

    return opened


def _with_user(url: str, user: str) -> str:
    """Return the address `url` with `user` in place of the user that it names."""
    parts = urlsplit(url)
    return parts._replace(netloc=f"{quote(user, safe='')}@{parts.netloc.rpartition('@')[2]}").geturl()


def redis_client(settings: RedisSection, *, timeout_s: float = 5.0) -> "redis.Redis":
    """Return a client of Redis that waits so long for an answer; nothing is sent yet. Raises `SettingsError` where the address is none."""
    try:
        return open_redis(settings.url, password=settings.secret(), ca_cert=settings.ssl_cafile, timeout_s=timeout_s)
    except ValueError as error:
        raise SettingsError(f"redis.url: {error}") from error


def redis_state(settings: RedisSection) -> RedisState:
    """Return the present state of jobs in Redis; nothing is sent yet."""
    return RedisState(redis_client(settings), prefix=settings.prefix, keep_s=settings.expire_days * DAY_S)


@contextmanager
def opened(settings: Settings, telemetry: Telemetry, stop: Event) -> Iterator[Sinks]:
    """Open the stores that the settings name, and count what they do."""
    writer, outage = ClickHouseWriter(clickhouse_opener(settings.clickhouse)), _outage("ClickHouse")
    stores = [StoreWriter("ClickHouse", writer.write, outage)]
    telemetry.export(writer.metrics, outage.metrics)
    if settings.redis.url:
        state, outage = redis_state(settings.redis), _outage("Redis")
        stores.append(StoreWriter("Redis", state.update, outage))
        telemetry.export(state.metrics, outage.metrics)
    try:
        yield Sinks(stores, stop)
    finally:
        writer.close()


def _outage(store: str) -> Outage:
    return Outage(store, consequence="the stream is held back; nothing is dropped")
