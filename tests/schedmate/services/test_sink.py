"""The sink's stores: what is waited for, how long, and what the health check states."""

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import pytest

from schedmate.services.sink import Sinks, StoreWriter, UnknownFaults, _with_user
from schedmate_records import Position, Record
from sinks import RecordRejected, SinkUnavailable, TablesMissing, UnknownFault
from sinks.clickhouse.migrate import migrate
from sinks.clickhouse.writer import ClickHouseWriter
from streams.resilience import Outage
from tests.sinks.conftest import Embedded, embedded
from tests.sinks.made import Row, metric
from tests.waiting import until

__all__ = ["embedded"]

Store = Callable[[Sequence[tuple[Position, Record]]], None]


def sinks(write: Store, stop: threading.Event | None = None, **settings: float) -> Sinks:
    outage = Outage("ClickHouse", first_s=0.01, limit_s=0.02)
    return Sinks([StoreWriter("ClickHouse", write, outage)], stop or threading.Event(), **settings)


@pytest.fixture
def waiting(embedded: Embedded) -> Iterator[tuple[Sinks, threading.Thread]]:
    """A sink that writes a second row after somebody dropped the table."""
    stop, writer = threading.Event(), ClickHouseWriter(embedded.connect)
    stores = sinks(writer.write, stop)
    stores.write([metric(1)])
    embedded.client.command("DROP TABLE job_metrics")

    def write() -> None:
        with suppress(TablesMissing):
            stores.write([metric(2)])

    thread = threading.Thread(target=write)
    thread.start()
    yield stores, thread
    stop.set()
    thread.join()
    writer.close()


def test_a_dropped_table_is_waited_for(embedded: Embedded, waiting: tuple[Sinks, threading.Thread]) -> None:
    stores, thread = waiting
    until(stores.problems)
    (problem,) = stores.problems()
    assert "ClickHouse takes nothing" in problem
    assert "job_metrics" in problem
    assert "schedmate migrate" in problem
    assert thread.is_alive()
    migrate(embedded.client)
    thread.join()
    assert stores.problems() == []
    assert embedded.one("SELECT count() FROM job_metrics WHERE step = 2") == 1


def test_an_unknown_error_is_waited_for_until_it_passes() -> None:
    failures = iter([UnknownFault("odd"), UnknownFault("odd")])

    def write(_: Sequence[Row]) -> None:
        if error := next(failures, None):
            raise error

    stores = sinks(write)
    stores.write([metric(1)])
    assert stores.problems() == []


def test_an_unknown_error_that_stays_is_the_fault_of_a_record() -> None:
    tries = itertools.count()

    def write(batch: Sequence[Row]) -> None:
        next(tries)
        if any(getattr(record, "step", 0) == 3 for _, record in batch):
            raise UnknownFault("odd")

    stores = sinks(write, unknown_limit_s=0.05)
    with pytest.raises(RecordRejected, match="odd"):
        stores.write([metric(step) for step in range(5)])
    waited = next(tries)
    with pytest.raises(RecordRejected):
        stores.write([metric(3)])
    assert next(tries) == waited + 2, "parts of the batch are not waited for again"
    stores.write([metric(4)])


def test_the_limit_begins_anew_after_a_write_that_worked() -> None:
    now = [0.0]
    faults = UnknownFaults(60, 600, lambda: now[0])

    def kind_at(moment: float) -> type[Exception]:
        now[0] = moment
        return type(faults.translate(UnknownFault("odd")))

    assert [kind_at(0), kind_at(59)] == [SinkUnavailable] * 2
    faults.passed()
    assert [kind_at(70), kind_at(129)] == [SinkUnavailable] * 2
    assert kind_at(130) is RecordRejected
    faults.passed()
    assert kind_at(700) is RecordRejected, "the limit has passed, and parts of the batch are tried"
    assert kind_at(731) is SinkUnavailable


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://schedmate@ch:8123/schedmate", "http://reader@ch:8123/schedmate"),
        ("https://ch/x", "https://reader@ch/x"),
    ],
)
def test_the_reader_takes_the_place_of_the_user(url: str, expected: str) -> None:
    assert _with_user(url, "reader") == expected
