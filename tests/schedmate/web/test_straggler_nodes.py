"""Nodes that slow several jobs, in the list of nodes."""

import pytest

from schedmate.web.database import Database
from schedmate.web.nodes import COLUMNS, read_nodes
from schedmate_records import Position
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.clickhouse.week import STRAGGLERS
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]


@pytest.fixture
def database(embedded: Embedded) -> Database:
    return Database(embedded.connect, embedded=True)


def test_a_node_that_slows_jobs_of_several_users_says_how_many(embedded: Embedded, database: Database) -> None:
    assert read_nodes(database) == []
    ClickHouseWriter(embedded.connect).write(
        [(Position("any", 0, offset), record) for offset, record in enumerate(STRAGGLERS)]
    )
    rows = read_nodes(database)
    assert [(row["node"], row["slowed_jobs"], row["failures"]) for row in rows] == [("n8", 3, 0)]
    assert set(rows[0]) == set(COLUMNS)
    database.close()
