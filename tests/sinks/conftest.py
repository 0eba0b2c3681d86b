"""Databases for the sinks' tests."""

import atexit
import functools
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from sinks.clickhouse.client import open_client
from sinks.clickhouse.migrate import migrate
from tests.servers.clickhouse import clickhouse
from tests.servers.redis import redis_store

__all__ = ["Embedded", "clickhouse", "embedded", "fresh_database", "migrated_database", "redis_store"]


@dataclass
class Embedded:
    """The embedded engine at a directory of its own: an open client, and a way to open another."""

    url: str
    client: Client

    def connect(self) -> Client:
        return open_client(self.url)

    def one(self, sql: str, **parameters: object) -> object:
        return self.client.query(sql, parameters=parameters).result_rows[0][0]


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """A migrated embedded database, one a module: the engine takes 335 MB and one directory a process."""
    url = f"chdb://{migrated_database(tmp_path_factory.mktemp('chdb') / 'engine')}"
    client = open_client(url)
    yield Embedded(url, client)
    client.close()


def migrated_database(directory: Path) -> Path:
    """Make `directory`, an empty migrated database of the embedded engine, and return it."""
    return Path(shutil.copytree(_migrated(), directory, symlinks=True))


@functools.cache
def _migrated() -> str:
    """Return the directory of one to be copied: that takes a tenth of the time."""
    directory = tempfile.mkdtemp(prefix="migrated-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    client = open_client(f"chdb://{directory}")
    migrate(client)
    client.close()
    return directory


@pytest.fixture
def fresh_database(embedded: Embedded) -> Iterator[Callable[[str], Client]]:
    """Open an empty database of its own, by name, on the module's engine."""
    opened = []

    def make(name: str) -> Client:
        opened.append(open_client(f"{embedded.url}?database={name}"))
        return opened[-1]

    yield make
    for client in opened:
        client.close()
