"""The sink: what comes out of the processors and the bridge goes to ClickHouse and Redis."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import structlog
from clickhouse_connect.driver.client import Client
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from schedmate_records import Decision, Failure, Position, Record
from sinks import RecordRejected, SinkRejected, SinkUnavailable, TablesMissing, UnknownFault
from sinks.clickhouse.client import open_client
from sinks.clickhouse.writer import ClickHouseWriter
from sinks.redis.connect import check_redis, open_redis
from sinks.redis.read_state import read_jobs
from sinks.redis.state import RedisState
from sinks.redis.status import JobStatus
from streams.resilience import Outage, retry
from streams.spans import VERDICT, Span, Spans, about_verdict

from ..settings.settings import ClickHouseSection, RedisSection, Settings, SettingsError, read_secret
from .telemetry import Telemetry

log = structlog.get_logger(__name__)

_SERIES: tuple[tuple[str, str, Callable[[JobStatus], float | None]], ...] = (
    ("step", "Training step of the newest report.", lambda job: job.step),
    ("step_time_seconds", "Seconds per step.", lambda job: job.step_time_s),
    ("loss", "Training loss.", lambda job: job.loss),
    ("gpus", "GPUs that it holds.", lambda job: job.gpus),
    ("done_ratio", "Share of the work that was done at the newest estimate.", lambda job: job.estimate_done),
    ("remaining_seconds", "Remaining time at the newest estimate.", lambda job: job.estimate_remaining_s),
    ("last_report_timestamp_seconds", "Arrival of the newest report.", lambda job: job.metric_time),
    ("alarms", "Alarms that are raised.", lambda job: float(len(job.alarms))),
)
"""Name after `schedmate_running_job_`, meaning and value of each series. A job has no series of a value that is not known."""


if TYPE_CHECKING:
    import redis

Write = Callable[[Sequence[tuple[Position, Record]]], None]


@dataclass(frozen=True)
class StoreWriter:
    """One store: how a batch is written (repeats change nothing), and whether it is away."""

    name: str
    write: Write
    outage: Outage


class UnknownFaults:
    """Time limit for errors of a store that SchedMate does not know. They are waited for, then a record is taken for the cause.

    Once the limit has passed, no such error is waited for during `memory_s`: the records that cause it are found by trying parts
    of their batch, and each part would otherwise wait anew.

    Args:
        limit_s: Seconds to wait for such errors to pass.
        memory_s: Seconds after the limit in which further such errors are not waited for.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self, limit_s: float = 300.0, memory_s: float = 600.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit_s, self._memory_s, self._clock = limit_s, memory_s, clock
        self._since: float | None = None

    def translate(self, error: UnknownFault) -> SinkUnavailable | RecordRejected:
        """Return what the error counts as now."""
        now = self._clock()
        if self._since is None or now >= self._since + self._limit_s + self._memory_s:
            self._since = now
        waited = now >= self._since + self._limit_s
        return (RecordRejected if waited else SinkUnavailable)(str(error))

    def passed(self) -> None:
        """Note a write that worked."""
        if self._since is not None and self._clock() < self._since + self._limit_s:
            self._since = None


class Sinks:
    """Writes every batch to all stores, and holds the stream back while one of them is away or lacks a table.

    Args:
        stores: Stores to write to, in this order.
        unknown_limit_s: Seconds to wait for errors that SchedMate does not know.
    """

    def __init__(self, stores: Sequence[StoreWriter], stop: Event, unknown_limit_s: float = 300.0) -> None:
        self._stores = stores
        self._stop = stop
        self._unknown = {store.name: UnknownFaults(unknown_limit_s) for store in stores}

    def write(self, batch: Sequence[tuple[Position, Record]]) -> None:
        """Return once `batch` lasts in every store.

        Raises:
            SinkUnavailable: The wait for a store was stopped; nothing of the batch may be taken as written.
            TablesMissing: The wait for a table was stopped; the same holds.
            RecordRejected: A store does not take one of the records, or has raised an unknown error for too long.
            SinkRejected: A store will never take it: no access, or another version's tables.
        """
        for store in self._stores:
            if batch:
                action = partial(self._write, store, batch)
                retry(action, store.outage, on=(SinkUnavailable, TablesMissing), stop=self._stop)

    def _write(self, store: StoreWriter, batch: Sequence[tuple[Position, Record]]) -> None:
        unknown = self._unknown[store.name]
        try:
            store.write(batch)
        except UnknownFault as error:
            raise unknown.translate(error) from error
        unknown.passed()

    def problems(self) -> list[str]:
        """Return what is wrong, for the health check."""
        return [
            f"{store.name} takes nothing; the stream is held back: {store.outage.reason}"
            for store in self._stores
            if store.outage.ongoing
        ]


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


def clickhouse_reader(settings: ClickHouseSection, limits: Mapping[str, str] | None = None) -> Callable[[], Client]:
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
            return open_client(url, password=password, ca_cert=settings.ssl_cafile, settings=limits, read_only=True)
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
    """Return the present state of jobs in Redis. Raises `SinkRejected` where Redis refuses; one that is away may answer later."""
    client = redis_client(settings)
    with suppress(SinkUnavailable):
        check_redis(client)
    return RedisState(client, prefix=settings.prefix, keep_s=settings.expire_days * 86_400)


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
        if settings.redis.job_series:
            read = partial(read_jobs, redis_client(settings.redis), prefix=settings.redis.prefix)
            telemetry.registry.register(RunningJobs(read, settings.redis.job_series))
    try:
        yield Sinks(stores, stop)
    finally:
        writer.close()


def _outage(store: str) -> Outage:
    return Outage(store, consequence="the stream is held back; nothing is dropped")


class RunningJobs(Collector):
    """Collects the series of running jobs, those that changed last first.

    Args:
        read: Returns the state of at most so many jobs, those updated last first.
        limit: Jobs at most.
    """

    def __init__(self, read: Callable[[int], Sequence[JobStatus]], limit: int) -> None:
        self._read, self._limit = read, limit

    def describe(self) -> list[GaugeMetricFamily]:
        """Return the families without a sample, so that registering asks nothing of Redis."""
        return [*self._families([]), self._left_out(0)]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the series; none while Redis does not answer."""
        try:
            # Further jobs that are read, with as many again as the limit: some of those that changed last have ended.
            found = [job for job in self._read(2 * self._limit + 100) if job.state == "running"]
        except (SinkUnavailable, SinkRejected) as error:
            log.warning("job_series_unavailable", reason=str(error))
            return
        yield from self._families(found[: self._limit])
        yield self._left_out(max(0, len(found) - self._limit))

    def _families(self, jobs: Sequence[JobStatus]) -> Iterator[GaugeMetricFamily]:
        for name, about, value in _SERIES:
            family = GaugeMetricFamily(f"schedmate_running_job_{name}", about, labels=("job", "user", "name"))
            for job in jobs:
                if (known := value(job)) is not None:
                    # Characters of a label's value: jobs choose their names.
                    family.add_metric([each[:128] for each in (job.job, job.user, job.name)], known)
            yield family

    def _left_out(self, count: int) -> GaugeMetricFamily:
        return GaugeMetricFamily(
            "schedmate_running_jobs_left_out", "Running jobs without series, of those that changed last.", count
        )
