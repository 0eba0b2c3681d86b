"""The page of the made history, served on the loopback, and a browser to look at it."""

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from processors.diagnose import load
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded, embedded

from .history import read, write

if TYPE_CHECKING:
    from playwright import sync_api as playwright

__all__ = ["embedded"]

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
PATIENCE_MS = 30_000


@pytest.fixture(scope="module")
def page(embedded: Embedded) -> Iterator[str]:
    """The address of the page."""
    write(embedded)
    with web_server(embedded.connect, {one.name: one for one in load()}, read=read) as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator["playwright.Browser"]:
    """A browser; tests that want it are slow."""
    if CHROMIUM is None:
        pytest.skip("no Chromium; apt-get install chromium")
    library = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with library.sync_playwright() as started:
        # Inside a container Chromium has no sandbox of its own; it sees only this page.
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium: "playwright.Browser", page: str) -> Iterator["playwright.Page"]:
    """A tab at the page; what the browser complains of, such as a breach of the page's policy, fails the test."""
    context = chromium.new_context(base_url=page)
    opened, said = context.new_page(), []
    opened.set_default_timeout(PATIENCE_MS)
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    yield opened
    context.close()
    assert said == []
