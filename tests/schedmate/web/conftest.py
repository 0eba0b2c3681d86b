"""The page of the made history, served on the loopback."""

from collections.abc import Iterator

import pytest

from processors.diagnose import load
from tests.schedmate.web.history import read, write
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]


@pytest.fixture(scope="module")
def page(embedded: Embedded) -> Iterator[str]:
    """The address of the page."""
    write(embedded)
    with web_server(embedded.connect, {one.name: one for one in load()}, read=read) as address:
        yield address
