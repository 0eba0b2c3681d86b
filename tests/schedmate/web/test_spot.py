"""Quotas of spot jobs on the page."""

import csv
import io
from collections.abc import Callable

from clickhouse_connect.driver.client import Client

from sinks.clickhouse.migrate import migrate
from tests.servers.web import web_server
from tests.sinks.conftest import fresh_database

from .history import HOSTILE
from .test_pages import Elements, data, get

__all__ = ["fresh_database"]


def test_the_newest_quota_with_demand_and_who_is_beyond(page: str) -> None:
    (cluster,) = data(page, "/spot.json")
    assert (cluster["quota"]["cluster"], cluster["quota"]["quota"], cluster["quota"]["stale"]) == (HOSTILE, 11.94, 0)
    assert [(each["organisation"], each["upper"]) for each in cluster["organisations"]] == [
        (HOSTILE, 41.5),
        ("small", None),
    ]
    assert [(each["job"], each["gpus"], bool(each["held"])) for each in cluster["beyond"]] == [(HOSTILE, 16.0, True)]
    assert cluster["quotas"] == sorted(cluster["quotas"])
    status, _, text = get(page, "/spot")
    assert status == 200
    assert "script" not in [tag for tag, attributes in Elements(text).found if "src" not in attributes]
    assert "41.5" in text


def test_its_table_for_programs(page: str) -> None:
    _, headers, text = get(page, "/spot.csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert headers["Content-Type"].startswith("text/csv")
    assert [(row["organisation"], row["in_use"], row["median"]) for row in rows] == [
        (HOSTILE, "32.0", "34.0"),
        ("small", "8.0", ""),
    ]


def test_where_nothing_is_forecast_it_says_how_to_turn_that_on(fresh_database: Callable[[str], Client]) -> None:
    client = fresh_database("bare")
    migrate(client)
    with web_server(lambda: client, {}) as address:
        assert data(address, "/spot.json") == []
        assert "bridge.evictable" in get(address, "/spot")[2]
