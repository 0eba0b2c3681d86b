"""The lines of a job are searched on the page, in Chromium."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from processors.diagnose import load
from schedmate.services.job_lines import JobLineWriter
from schedmate_records import LogChunk, Position
from sinks.clickhouse.writer import ClickHouseWriter
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded

from .history import HOSTILE, LINE, write

if TYPE_CHECKING:
    from playwright import sync_api as playwright

pytestmark = pytest.mark.slow


def chunk(job: str, rank: int, first: int, texts: list[str]) -> LogChunk:
    return LogChunk(
        job=job, node="n1", rank=rank, producer=f"p{rank}", first_line=first, first_piece=first, lines=texts, time=1_790_000_000.0 + first
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(embedded: Embedded) -> Iterator[str]:
    """The page of a database that holds lines of two jobs; Kafka does not keep them any more."""
    write(embedded)
    writer = JobLineWriter(ClickHouseWriter(embedded.connect), 1.0)
    cited = [f"line {number}" for number in range(211, 214)] + [LINE]
    stored = [
        *((0, offset, chunk("steady", 0, offset * 100 + 1, [f"loss {1 / (1 + each)}" for each in range(100)])) for offset in range(5)),
        (1, 0, chunk("steady", 1, 1, ["warn: slow disk", "WARN: slow network", "done"])),
        (0, 7, chunk(HOSTILE, 0, 211, cited)),
    ]  # fmt: skip
    for partition, offset, each in stored:
        writer.write([(Position("job-logs", partition, offset), each)])
    with web_server(embedded.connect, {one.name: one for one in load()}) as address:
        yield address


def test_a_search_leads_to_a_line_and_what_is_around_it(tab: "playwright.Page") -> None:
    tab.goto("/job?id=steady")
    tab.get_by_label("Search its lines").fill("(?i)warn")
    tab.get_by_role("button", name="Search").click()
    assert tab.locator(".log code").all_inner_texts() == ["warn: slow disk", "WARN: slow network"]
    tab.get_by_label("Rank").fill("0")
    tab.get_by_role("button", name="Search").click()
    tab.get_by_text("No line matches").wait_for()
    tab.get_by_label("Rank").fill("1")
    tab.get_by_role("button", name="Search").click()
    tab.get_by_role("link", name="2", exact=True).click()
    tab.wait_for_url("**#cited")
    assert tab.locator("#cited code").inner_text() == "WARN: slow network"
    assert tab.locator(".log code").all_inner_texts() == ["warn: slow disk", "WARN: slow network", "done"]


def test_many_lines_are_shown_page_by_page(tab: "playwright.Page") -> None:
    tab.goto("/log?id=steady&rank=0&grep=loss")
    seen = tab.locator(".log td.n a").all_inner_texts()
    while tab.get_by_role("link", name="further lines").count():
        tab.get_by_role("link", name="further lines").click()
        seen += tab.locator(".log td.n a").all_inner_texts()
    assert seen == [str(number) for number in range(1, 501)]


def test_a_pattern_that_is_none_is_explained_in_the_form(chromium: "playwright.Browser", page: str) -> None:
    tab = chromium.new_page(base_url=page)
    tab.goto("/log?id=steady&grep=%28")
    assert "expected a regular expression" in tab.get_by_role("alert").inner_text()
    assert tab.get_by_label("Search its lines").input_value() == "("
    answer = tab.goto("/log?id=steady&after=1")
    assert answer
    assert answer.status == 400
    tab.close()


@pytest.mark.parametrize("path", ["/", "/jobs", "/node?id=n1", "job"])
def test_every_verdict_leads_to_its_line(tab: "playwright.Page", path: str) -> None:
    tab.goto("/")
    if path == "job":
        tab.get_by_role("link", name=re.compile(re.escape(HOSTILE[:20]))).first.click()
    else:
        tab.goto(path)
    tab.get_by_role("link", name="The lines around it").first.click()
    tab.wait_for_url("**#cited")
    assert tab.locator("#cited code").inner_text() == LINE.replace("\x1b", "\\x1b")
    assert tab.locator("#cited").evaluate("row => row.getBoundingClientRect().top < innerHeight")


def test_a_job_without_stored_lines_has_no_search(tab: "playwright.Page") -> None:
    tab.goto("/job?id=odd")
    assert "No lines of this job are stored" in tab.locator("main").inner_text()
    assert tab.get_by_label("Search its lines").count() == 0
