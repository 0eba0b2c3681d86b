"""Statements that people type: those that read are answered, and no other has an effect."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from sinks import SinkRejected
from sinks.clickhouse.client import open_client
from sinks.clickhouse.migrate import migrate
from sinks.clickhouse.queries import ask
from sinks.clickhouse.statement import checked_statement
from tests.servers.clickhouse import ClickHouseServer
from tests.sinks.conftest import Embedded

HOSTILE = (
    "DROP TABLE failures",
    "drop table if exists failures",
    "  \n\t/* SELECT */ DROP TABLE failures",
    "-- SELECT 1\nDROP TABLE failures",
    "# SELECT 1\nDROP TABLE failures",
    "SELECT 1; DROP TABLE failures",
    "SELECT 1;\n-- nothing\n;DROP TABLE failures",
    "SELECT 1 /* ; */; TRUNCATE TABLE failures",
    "(DROP TABLE failures)",
    "DROP DATABASE {database}",
    "TRUNCATE TABLE failures",
    "ALTER TABLE failures DELETE WHERE 1",
    "ALTER TABLE failures MODIFY TTL stored + toIntervalDay(1)",
    "DELETE FROM failures WHERE 1",
    "OPTIMIZE TABLE failures FINAL",
    "RENAME TABLE failures TO lost",
    "EXCHANGE TABLES failures AND alarms",
    "DETACH TABLE failures",
    "CREATE TABLE mine (a Int8) ENGINE = Memory",
    "CREATE TEMPORARY TABLE mine (a Int8)",
    "CREATE FUNCTION mine AS (x) -> x",
    "INSERT INTO failures (id) VALUES ('1')",
    "INSERT INTO failures (id) SELECT '1'",
    "WITH '1' AS x INSERT INTO failures (id) SELECT x",
    "INSERT INTO FUNCTION file('{file}.new', 'CSV', 'a Int8') SELECT 1",
    "SYSTEM DROP MARK CACHE",
    "SYSTEM SHUTDOWN",
    "KILL QUERY WHERE 1",
    "SET readonly = 0",
    "USE system",
    "GRANT ALL ON *.* TO default",
    "BACKUP TABLE failures TO File('{file}.new')",
    "SELECT 1 INTO OUTFILE '{file}.new'",
    "SELECT 1 INTO /* */ OUTFILE '{file}.new' TRUNCATE FORMAT CSV",
    "SHOW TABLES INTO OUTFILE '{file}.new'",
    "EXPLAIN SELECT 1 INTO OUTFILE '{file}.new'",
    "EXPLAIN AST DROP TABLE failures",
    "EXPLAIN TABLE OVERRIDE mysql('127.0.0.1:1', 'd', 't', 'u', 'p') PARTITION BY 1",
    "SELECT 1 PARALLEL WITH DROP TABLE failures",
    "SELECT file('{file}')",
    "SELECT FILE('{file}')",
    "SELECT `file`('{file}')",
    "WITH x AS (SELECT file('{file}') AS text) SELECT * FROM x",
    "SELECT * APPLY(file) FROM (SELECT '{file}' AS a)",
    "SELECT COLUMNS('a') APPLY file FROM (SELECT '{file}' AS a)",
    "SELECT * APPLY(x -> file(x)) FROM (SELECT '{file}' AS a)",
    "SELECT arrayMap(file, ['{file}'])",
    "SELECT arrayMap(`FILE`, ['{file}'])",
    "SELECT 1 AS `it's`, arrayMap(file, ['{file}']) AS `it's too`",
    "SELECT sum(1) OVER (ORDER BY file('{file}'))",
    "SELECT 1 LIMIT length(file('{file}'))",
    "SHOW TABLES WHERE file('{file}') = ''",
    "SHOW COLUMNS FROM failures WHERE file('{file}') = ''",
    "SHOW TABLES LIKE 'x' LIMIT length(file('{file}'))",
    "SHOW TABLES WHERE name IN (SELECT a FROM url('http://127.0.0.1:1/x', 'CSV', 'a String'))",
    "SELECT * FROM file('{file}')",
    "SELECT * FROM file('{file}', 'CSV', 'a Int8')",
    "SELECT 1 WHERE 1 IN (SELECT a FROM file('{file}', 'CSV', 'a Int8'))",
    "SELECT 1 WHERE 1 IN file('{file}', 'CSV', 'a Int8')",
    "DESCRIBE file('{file}')",
    "DESC TABLE file('{file}')",
    "DESCRIBE (SELECT file('{file}'))",
    "EXPLAIN SELECT * FROM file('{file}')",
    "SELECT * FROM default.`{file}`",
    "DESCRIBE TABLE default.`{file}`",
    "EXISTS TABLE default.`{file}`",
    "SELECT * FROM `{file}`",
    "SELECT * FROM url('http://127.0.0.1:1/x', 'CSV', 'a Int8')",
    "DESCRIBE TABLE url('http://127.0.0.1:1/x.csv')",
    "SELECT * FROM s3('http://127.0.0.1:1/b/x.csv', 'CSV', 'a Int8')",
    "SELECT * FROM executable('id', 'TSV', 'a String')",
    "SELECT * FROM remote('127.0.0.1', 'system.one')",
    "SELECT * FROM remoteSecure('127.0.0.1', 'system.one')",
    "SELECT * FROM cluster('default', 'system.one')",
    "SELECT * FROM mysql('127.0.0.1:1', 'd', 't', 'u', 'p')",
    "SELECT * FROM postgresql('127.0.0.1:1', 'd', 't', 'u', 'p')",
    "SELECT * FROM sqlite('{file}', 't')",
    "SELECT * FROM merge('.*', '.*')",
    "SELECT * FROM python('sys')",
    "SELECT * FROM eval('SELECT 1')",
    "SELECT hasColumnInTable('127.0.0.1', 'd', 't', 'c')",
    "",
    ";",
    "-- nothing",
)

READING = (
    "SELECT count() AS n FROM failures",
    "  -- how many\nselect /* all */ count() from failures ;",
    "(SELECT 1) UNION ALL (SELECT 2)",
    "FROM failures SELECT count()",
    "WITH x AS (SELECT job FROM failures) SELECT count() FROM x",
    "SELECT 'DROP TABLE failures; INTO OUTFILE x' AS \"INTO OUTFILE\"",
    "SELECT format('{0} {1}', 'a', 'b')",
    "SELECT number FROM numbers(3)",
    "SELECT sum(rows) FROM system.parts WHERE active AND database = currentDatabase()",
    "SELECT count() FROM {database}.failures AS f LEFT JOIN alarms AS a USING (job)",
    "SELECT * FROM job_throughput",
    "SHOW TABLES",
    "SHOW CREATE TABLE failures",
    "SHOW COLUMNS FROM failures",
    "SHOW TABLES LIKE 'job%'",
    "SELECT cluster, 'file' AS name FROM quotas",
    "SELECT arrayMap(x -> upper(x), ['a''b'])",
    "DESCRIBE TABLE failures",
    "DESC failures",
    "EXISTS failures",
    "EXPLAIN SELECT job FROM failures",
)


class Question:
    """A reader's client, and a file that its statements must neither read nor change."""

    def __init__(self, client: Client, file: Path, *, embedded: bool) -> None:
        self.client, self.file, self.embedded = client, file, embedded
        file.write_text("1,2\n")

    def ask(self, sql: str) -> list[object]:
        text = sql.replace("{database}", str(self.client.database)).replace("{file}", str(self.file))
        return list(ask(self.client, checked_statement(self.client, text, {}, embedded=self.embedded)).rows)


@pytest.fixture(scope="module")
def reader(embedded: Embedded, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Question]:
    client = open_client(embedded.url, read_only=True)
    yield Question(client, tmp_path_factory.mktemp("outside") / "secret.csv", embedded=True)
    client.close()


@pytest.fixture(scope="module")
def writer(embedded: Embedded, reader: Question) -> Question:
    """The client of a user who may do everything: nothing but the check of statements holds it back."""
    return Question(embedded.client, reader.file, embedded=True)


@pytest.mark.parametrize("sql", HOSTILE)
def test_the_check_alone_refuses_a_statement_that_does_more_than_read(writer: Question, sql: str) -> None:
    test_a_statement_that_does_more_than_read_is_refused(writer, sql)


@pytest.mark.parametrize("sql", HOSTILE)
def test_a_statement_that_does_more_than_read_is_refused(reader: Question, sql: str) -> None:
    with pytest.raises(SinkRejected):
        reader.ask(sql)
    tables = reader.client.query("SHOW TABLES").result_columns[0]
    assert "failures" in tables
    assert "mine" not in tables
    assert [each.name for each in reader.file.parent.iterdir()] == ["secret.csv"]


@pytest.mark.parametrize("sql", READING)
def test_a_statement_that_reads_is_answered(reader: Question, sql: str) -> None:
    reader.ask(sql)


def test_a_parameter_names_no_file(reader: Question) -> None:
    with pytest.raises(SinkRejected, match="tables of the database alone"):
        checked_statement(reader.client, "SELECT * FROM {t:Identifier}", {"t": str(reader.file)}, embedded=True)


@pytest.mark.parametrize(
    "sql", ["DROP TABLE failures", "INSERT INTO failures (id) VALUES ('1')", "SELECT 1 SETTINGS readonly = 0"]
)
def test_a_client_that_reads_cannot_write(reader: Question, sql: str) -> None:
    with pytest.raises(SinkRejected, match=r"(?i)readonly"):
        ask(reader.client, sql)


@pytest.mark.clickhouse
def test_a_server_is_asked_with_the_setting_readonly(clickhouse: ClickHouseServer) -> None:
    migrate(open_client(clickhouse.url))
    client = open_client(clickhouse.url, settings={"max_execution_time": "15"}, read_only=True)
    asked = ask(client, "SELECT getSetting('readonly'), getSetting('max_execution_time')")
    assert [float(each) for each in asked.rows[0]] == [1, 15]
    with pytest.raises(SinkRejected, match=r"(?i)readonly"):
        ask(client, "DROP TABLE failures")
    assert ask(client, checked_statement(client, "SHOW TABLES", {}, embedded=False)).rows
