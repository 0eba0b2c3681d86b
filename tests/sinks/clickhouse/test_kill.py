"""The engine is killed in the worst moments; the tables and the roll-up hold exactly what the stream implies."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import urllib3
from clickhouse_connect.driver.client import Client

from sinks import SinkUnavailable
from sinks.clickhouse.client import open_client
from sinks.clickhouse.migrate import migrate
from sinks.clickhouse.writer import ClickHouseWriter
from streams.resilience import Outage, retry
from tests.metric_values import value
from tests.servers.clickhouse import ClickHouseServer, clickhouse_server
from tests.sinks.made import Row, cut, metric

pytestmark = pytest.mark.clickhouse


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> "ClickHouseServer":
    with clickhouse_server(tmp_path_factory.mktemp("killed")) as server:
        client = open_client(server.url)
        migrate(client)
        client.close()
        yield server


@pytest.fixture
def connect(server: ClickHouseServer) -> Callable[[], Client]:
    return lambda: open_client(server.url, connect_timeout_s=1)


def persist(outage: Outage, write: Callable[[], None]) -> None:
    retry(write, outage, on=SinkUnavailable, stop=threading.Event())


def held(client: Client, job: str) -> tuple[list[int], list[tuple[object, ...]]]:
    """The job's steps as they stand in the table, and its roll-up."""
    steps = client.query("SELECT step FROM job_metrics WHERE job = {job:String} ORDER BY step", parameters={"job": job})
    minutes = client.query(
        "SELECT toUnixTimestamp(minute), reports, throughput, first_step, last_step FROM job_throughput "
        "WHERE job = {job:String} ORDER BY minute",
        parameters={"job": job},
    )
    return [row[0] for row in steps.result_rows], minutes.result_rows


def implied(rows: list[Row]) -> tuple[list[int], list[tuple[object, ...]]]:
    """The same, worked out by hand."""
    records = {record.id: record for _, record in rows}.values()
    by_minute: dict[int, list] = {}
    for record in records:
        by_minute.setdefault(int(record.time // 60 * 60), []).append(record)
    return sorted(record.step for record in records), [
        (
            minute,
            len(found),
            pytest.approx(sum(record.throughput for record in found) / len(found)),
            min(record.step for record in found),
            max(record.step for record in found),
        )
        for minute, found in sorted(by_minute.items())
    ]


@pytest.mark.parametrize("before_views", [False, True], ids=["rows and roll-up written", "rows written alone"])
def test_killed_between_insert_and_answer_then_replayed_by_another_process(
    server: ClickHouseServer, connect: Callable[[], Client], before_views: bool
) -> None:
    job = f"killed-{before_views}"
    rows = [metric(step, job) for step in range(400)]
    first = ClickHouseWriter(connect)
    first.write(rows[:150])
    server.die_after_insert("job_metrics", before_views=before_views)
    with pytest.raises(SinkUnavailable):
        first.write(rows[150:300])
    server.wait_dead()
    server.start()
    if before_views:
        with_client = connect()
        assert held(with_client, job)[0] == list(range(300))
        assert held(with_client, job)[1] != implied(rows[:300])[1]  # What the kill left is what it was meant to leave.

    # Another process knows nothing, starts at the last committed offset, and cuts the stream elsewhere.
    second = ClickHouseWriter(connect)
    for batch in cut(rows[100:], 70):
        second.write(batch)
    assert held(connect(), job) == implied(rows)
    assert value(second.metrics.rows) == 100
    assert value(second.metrics.repeats) == 200


def test_killed_between_the_name_of_a_block_and_the_block_itself(tmp_path: Path) -> None:
    """The engine then knows the block's token, has none of its rows, and answers the second try with a success."""
    rows = [metric(step, "named") for step in range(200)]
    with clickhouse_server(tmp_path) as server:
        client = open_client(server.url)
        migrate(client)
        ClickHouseWriter(lambda: client).write(rows)
        server.kill()
        server.lose_parts()
        server.start()
        assert held(client, "named") == ([], [])
        second = ClickHouseWriter(lambda: client)
        second.write(rows)
        assert held(client, "named") == implied(rows)
        assert (value(second.metrics.swallowed), value(second.metrics.rows)) == (1, 200)


def test_a_writer_that_lives_on_writes_the_same_batch_again(
    server: ClickHouseServer, connect: Callable[[], Client]
) -> None:
    rows = [metric(step, "lives-on") for step in range(300)]
    writer = ClickHouseWriter(connect)
    outage = Outage("ClickHouse", first_s=0.05, limit_s=0.2)
    writer.write(rows[:100])
    server.die_after_insert("job_metrics", before_views=True)
    back = threading.Thread(target=lambda: (server.wait_dead(), server.start()))
    back.start()
    persist(outage, lambda: writer.write(rows[100:200]))
    back.join()
    persist(outage, lambda: writer.write(rows[200:]))
    assert held(connect(), "lives-on") == implied(rows)
    assert (value(outage.metrics.outages), outage.ongoing) == (1, False)
    assert value(outage.metrics.retries) >= 1


def test_many_kills_at_random_moments(server: ClickHouseServer, connect: Callable[[], Client]) -> None:
    rows = [metric(step, f"many-{step % 5}", partition=step % 2) for step in range(3000)]
    outage = Outage("ClickHouse", first_s=0.05, limit_s=0.2)
    done = threading.Event()
    kills = 0

    def killer() -> None:
        nonlocal kills
        while not done.wait(0.15 + 0.2 * kills):
            server.kill()
            server.start()
            kills += 1
            if kills == 3:
                return

    thread = threading.Thread(target=killer)
    thread.start()
    try:
        committed = 0
        for size in (97, 211, 53, 160):  # Each a process of its own, that begins again at what was last committed.
            writer = ClickHouseWriter(connect)
            for batch in cut(rows[committed : committed + 1000], size):
                persist(outage, partial(writer.write, batch))
            committed += 700
    finally:
        done.set()
        thread.join()
    client = connect()
    for job in range(5):
        assert held(client, f"many-{job}") == implied([row for row in rows if row[1].job == f"many-{job}"])
    assert kills >= 1


@pytest.mark.parametrize(
    "killed", [False, True], ids=["the answer was lost", "the engine was killed before the roll-up"]
)
def test_a_request_that_is_replayed_by_the_driver_is_written_once(
    server: ClickHouseServer, connect: Callable[[], Client], killed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver sends an insert again where the connection closed before the answer: here both requests reach the engine."""
    job = f"replayed-{killed}"
    rows = [metric(step, job) for step in range(50)]
    client = connect()
    sent = urllib3.PoolManager.request

    def twice(pool, method, url, *, body=None, **named):
        if isinstance(body, Iterator):  # an insert's blocks
            body = b"".join(body)
            first = int(time.time())
            if killed:
                server.die_after_insert("job_metrics", before_views=True)
                with pytest.raises(urllib3.exceptions.HTTPError):
                    sent(pool, method, url, body=body, **named)
                server.wait_dead()
                server.start()
            else:
                sent(pool, method, url, body=body, **named)
            while int(time.time()) == first:  # `stored` differs from now on, and with it the block's content.
                time.sleep(0.02)
        return sent(pool, method, url, body=body, **named)

    monkeypatch.setattr(urllib3.PoolManager, "request", twice)
    ClickHouseWriter(lambda: client).write(rows)
    assert held(connect(), job) == implied(rows)
