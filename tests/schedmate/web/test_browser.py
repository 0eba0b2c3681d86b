"""Journeys through the page in Chromium."""

import re
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from records import Command
from schedmate.web.access import Linked
from tests.schedmate.web.history import HOSTILE, LINE, write
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded, embedded

if TYPE_CHECKING:
    from playwright import sync_api as playwright

__all__ = ["embedded"]

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; apt-get install chromium"),
]
PATIENCE_MS = 30_000
VIEWS = (
    "/",
    "/jobs",
    f"/job?{urlencode({'id': HOSTILE})}",
    "/job?id=steady",
    "/decisions",
    "/nodes",
    "/node?id=n1",
    "/shadow",
    "/spot",
    "/questions",
    "/questions/bridge",
    "/job?id=nobody",
)


@pytest.fixture(scope="module")
def chromium() -> Iterator["playwright.Browser"]:
    library = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with library.sync_playwright() as started:
        # Inside a container Chromium has no sandbox of its own; it sees only this page.
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium: "playwright.Browser", page: str) -> Iterator["playwright.Page"]:
    """A tab at the page; what the browser complains of fails the test."""
    context = chromium.new_context(base_url=page)
    opened, said = context.new_page(), []
    opened.set_default_timeout(PATIENCE_MS)
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    yield opened
    context.close()
    assert said == []


def test_from_the_start_page_to_the_line_that_explains_a_failure(tab: "playwright.Page") -> None:
    tab.goto("/")
    tab.get_by_role("link", name=re.compile(re.escape(HOSTILE[:20]))).first.click()
    assert tab.get_by_role("heading", name="Verdict").is_visible()
    shown = LINE.replace("\x1b", "\\x1b")
    assert tab.locator("pre", has_text=shown).first.is_visible()
    assert "owned" not in tab.title().split("·")[1]
    assert tab.evaluate("document.images.length") == 0


def test_an_operator_rejects_what_waits(chromium: "playwright.Browser", embedded: Embedded) -> None:
    write(embedded)
    access, written = Linked("alice"), []
    with web_server(embedded.connect, {}, access=access, write=written.append) as address:
        context = chromium.new_context(base_url=address)
        tab = context.new_page()
        tab.goto(access.link)
        tab.get_by_role("link", name="Decisions").click()
        waiting = tab.locator("section.notice", has_text="Waits for a person")
        waiting.get_by_role("button", name="Reject").click()
        assert tab.url.endswith("/decisions"), "a reason is required"
        waiting.get_by_label("Why").fill("not now")
        waiting.get_by_role("button", name="Reject").click()
        tab.get_by_role("status").filter(has_text="Rejected.").wait_for()
        assert [(act.command, act.reason, act.user) for act in written] == [(Command.REJECT, "not now", "alice")]
        context.close()


def test_moments_stand_in_the_readers_own_time(chromium: "playwright.Browser", page: str) -> None:
    said, pointed, told = {}, {}, {}
    for zone in ("UTC", "Asia/Tokyo"):
        context = chromium.new_context(base_url=page, timezone_id=zone)
        tab = context.new_page()
        tab.goto("/job?id=again")
        tab.locator("#events summary").click()
        moment = tab.locator("#events time").first
        said[zone] = datetime.fromisoformat(moment.inner_text())
        assert tab.locator("#events .zone").inner_text() == zone
        mark, _, moment_and_zone = (tab.locator("svg.plot .mark title").first.text_content() or "").rpartition(", ")
        assert "attempt" in mark
        assert moment_and_zone.endswith(f" {zone}")
        pointed[zone] = datetime.fromisoformat(moment_and_zone.removesuffix(f" {zone}"))
        started = tab.locator("p", has_text=re.compile(r"^Started ")).locator("time").first
        told[zone] = datetime.fromisoformat(started.inner_text())
        context.close()
    for each in (said, pointed, told):
        assert each["Asia/Tokyo"] - each["UTC"] == timedelta(hours=9)


def test_a_search_narrows_the_list_and_its_link_can_be_shared(tab: "playwright.Page") -> None:
    tab.goto("/jobs")
    tab.keyboard.press("/")
    tab.keyboard.type("steady")
    tab.get_by_role("status").filter(has_text=re.compile(r"^1 job$")).wait_for()
    tab.wait_for_url("**/jobs?q=steady*")
    tab.reload()
    assert tab.get_by_role("rowheader").all_inner_texts() == ["steady"]


def test_filters_work_by_keyboard(tab: "playwright.Page") -> None:
    tab.goto("/jobs")
    tab.get_by_label("Show", exact=True).select_option("queued")
    tab.get_by_role("status").filter(has_text=re.compile(r"^1 job$")).wait_for()
    tab.get_by_role("link", name="later").focus()
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", level=1, name="Job later").wait_for()


def test_it_reads_without_javascript(chromium: "playwright.Browser", page: str) -> None:
    context = chromium.new_context(base_url=page, java_script_enabled=False)
    tab = context.new_page()
    tab.goto("/jobs")
    tab.get_by_label("Search").fill("again")
    tab.get_by_role("button", name="Show").click()
    tab.get_by_role("link", name="again").click()
    assert tab.locator("svg.plot path.curve").count() == 3
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "view",
    VIEWS,
)
def test_nothing_is_wider_than_a_phone(chromium: "playwright.Browser", page: str, view: str, scheme: str) -> None:
    context = chromium.new_context(base_url=page, viewport={"width": 360, "height": 740}, color_scheme=scheme)
    tab = context.new_page()
    tab.goto(view)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    light = [int(part) for part in re.findall(r"\d+", tab.evaluate("getComputedStyle(document.body).backgroundColor"))]
    assert (sum(light[:3]) > 380) == (scheme == "light")
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_to_complain_of(chromium: "playwright.Browser", page: str, view: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    context = chromium.new_context(
        base_url=page, viewport={"width": 360, "height": 740}, color_scheme=scheme, bypass_csp=True
    )
    tab = context.new_page()
    tab.goto(view)
    found = axe.Axe().run(tab).response["violations"]
    context.close()
    assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []


@pytest.mark.parametrize("javascript", [False, True], ids=["plain", "javascript"])
def test_a_stranger_finds_the_cause_and_the_slowest_job_by_links_alone(
    chromium: "playwright.Browser", page: str, javascript: bool
) -> None:
    context = chromium.new_context(base_url=page, java_script_enabled=javascript)
    tab = context.new_page()
    tab.goto("/")
    tab.get_by_role("link", name=re.compile("failed")).first.click()
    tab.get_by_role("rowheader").get_by_role("link").first.click()
    assert tab.get_by_role("heading", name="Verdict").is_visible()
    assert tab.locator("pre", has_text="CUDA error").first.is_visible()
    tab.get_by_role("link", name="SchedMate").click()
    tab.get_by_role("link", name="Running jobs, slowest step first").click()
    tab.get_by_role("heading", level=1, name="Jobs").wait_for()
    assert tab.get_by_role("rowheader").first.inner_text() == "odd"
    context.close()
