from collections.abc import Callable
from dataclasses import replace

import pytest
from clickhouse_connect.driver.client import Client

from sinks import SinkRejected, TablesMissing
from sinks.clickhouse.migrate import KEPT, check_schema, lost, migrate, migrations, set_retention
from sinks.clickhouse.tables import TABLES
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded
from tests.sinks.made import metric

OpenDatabase = Callable[[str], Client]


def test_a_database_without_tables_says_what_to_do(fresh_database: OpenDatabase) -> None:
    client = fresh_database("empty")
    with pytest.raises(SinkRejected, match="schedmate migrate"):
        check_schema(client)
    with pytest.raises(SinkRejected, match="schedmate migrate"):
        ClickHouseWriter(lambda: client).write([metric(1)])


def test_every_statement_can_be_repeated(embedded: Embedded) -> None:
    """Two `migrate` at once, or one killed half-way, run a file again."""
    client = embedded.client
    client.command("TRUNCATE TABLE schema_migrations")
    assert migrate(client) == [migration.name for migration in migrations()]
    check_schema(client)


def test_a_half_migrated_database_is_named_and_each_migration_runs_once(fresh_database: OpenDatabase) -> None:
    client = fresh_database("half")
    migrate(client, known=migrations()[:1])
    with pytest.raises(SinkRejected, match=r"0002_progress\.sql.*schedmate migrate"):
        check_schema(client)
    assert migrate(client) == [migration.name for migration in migrations()[1:]]
    assert migrate(client) == []
    check_schema(client)


def test_an_edited_migration_is_refused(fresh_database: OpenDatabase) -> None:
    client = fresh_database("edited")
    first, *rest = migrations()
    migrate(client, known=[first])
    edited = replace(first, text=first.text + "\nDROP TABLE job_events;")
    with pytest.raises(SinkRejected, match=r"0001_jobs\.sql.*another text"):
        migrate(client, known=[edited, *rest])
    assert client.command("EXISTS TABLE job_events") == 1


def test_a_newer_database_is_refused(fresh_database: OpenDatabase) -> None:
    client = fresh_database("newer")
    migrate(client, known=migrations()[:1])
    client.insert("schema_migrations", [[99, "0099_later.sql", "x"]], column_names=["version", "name", "checksum"])
    with pytest.raises(SinkRejected, match="newer SchedMate"):
        check_schema(client)


def test_tables_have_the_columns_that_the_writer_fills(embedded: Embedded) -> None:
    for table in TABLES:
        rows = embedded.client.query(f"DESCRIBE TABLE {table.name}").result_rows
        filled = {column.name for column in table.columns} | {"src_topic", "src_partition", "src_offset", "stored"}
        assert {row[0] for row in rows} == filled
        # Every field of the record has a column of its name, or one that is made of it.
        made_of = {"root": "root_text", "v": "id", "over_ranks": "rank_spread", "failure": "failed", "place": "text"}
        assert {made_of.get(field, field) for field in table.record.__struct_fields__} <= filled


def days(client: Client) -> dict[str, str]:
    rows = client.query(
        "SELECT name, extract(engine_full, 'toIntervalDay\\\\((\\\\d+)\\\\)') FROM system.tables "
        "WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'"
    ).result_rows
    return dict(rows)


def test_retention_can_be_set_changed_and_taken_away(fresh_database: OpenDatabase) -> None:
    client = fresh_database("retention")
    migrate(client, keep_days={"default": 30, "gpu_metrics": 7, "failures": 0})
    assert days(client) == {name: {"gpu_metrics": "7", "failures": ""}.get(name, "30") for name in KEPT}
    assert set_retention(client, {"default": 30, "gpu_metrics": 7, "failures": 0}) == []
    assert set_retention(client, {"default": 30, "failures": 365}) == ["failures", "gpu_metrics"]
    assert set_retention(client, 0) == list(KEPT)
    assert set(days(client).values()) == {""}


@pytest.mark.parametrize("wrong", [{"job_metric": 3}, {"default": -1}, -5])
def test_retention_refuses_what_it_does_not_know(embedded: Embedded, wrong: dict[str, int] | int) -> None:
    with pytest.raises(SinkRejected, match="expected 0 or more days"):
        set_retention(embedded.client, wrong)


def test_rows_go_when_they_are_too_old(fresh_database: OpenDatabase) -> None:
    client = fresh_database("expiry")
    migrate(client, keep_days=10)
    ClickHouseWriter(lambda: client).write([metric(1, time=1.0), metric(2)])
    client.command("OPTIMIZE TABLE job_metrics FINAL")
    assert client.command("SELECT count() FROM job_metrics") == 2  # Old by its own clock, but stored today.
    client.command("INSERT INTO job_metrics (id, job, stored) SELECT 'old', 'j', now() - INTERVAL 11 DAY")
    client.command("OPTIMIZE TABLE job_metrics FINAL")
    assert client.command("SELECT count() FROM job_metrics WHERE id = 'old'") == 0


@pytest.mark.parametrize(
    "dropped", ["failures", "job_metrics", "job_throughput_1m", "job_throughput_1m_fill", "verdicts"]
)
def test_what_somebody_dropped_is_created_again(fresh_database: OpenDatabase, dropped: str) -> None:
    client = fresh_database(f"without_{dropped}")
    migrate(client)
    writer = ClickHouseWriter(lambda: client)
    writer.write([metric(1)])
    client.command(f"DROP TABLE {dropped}")
    with pytest.raises(TablesMissing, match=rf"{dropped}.*schedmate migrate"):
        check_schema(client)
    assert lost(client) == [dropped]
    assert migrate(client, keep_days=30) == []
    check_schema(client)
    assert lost(client) == []
    writer.write([metric(1), metric(2)])
    writer.write([metric(1), metric(2)])  # counts the roll-up again
    assert client.query("SELECT count() FROM job_metrics").result_rows == [(2,)]
    assert client.query("SELECT sum(reports) FROM job_throughput").result_rows == [(2,)]


def test_dropped_columns_are_created_again(fresh_database: OpenDatabase) -> None:
    client = fresh_database("without_columns")
    migrate(client)
    dropped = ["decisions.signature", "failures.message"]
    before = [client.query(f"DESCRIBE TABLE {name.split('.')[0]}").result_rows for name in dropped]
    for name in dropped:
        table, column = name.split(".")
        client.command(f"ALTER TABLE {table} DROP COLUMN {column}")
    assert sorted(lost(client)) == sorted(dropped)
    migrate(client)
    check_schema(client)
    after = [client.query(f"DESCRIBE TABLE {name.split('.')[0]}").result_rows for name in dropped]
    assert [sorted(each) for each in after] == [sorted(each) for each in before]


def test_nothing_is_lost_where_nothing_was_created(fresh_database: OpenDatabase) -> None:
    client = fresh_database("never_migrated")
    assert lost(client) == []
