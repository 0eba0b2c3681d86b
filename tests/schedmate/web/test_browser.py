"""Journeys through the page in Chromium."""

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from schedmate.web.access import Linked
from schedmate_records import Command
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded, embedded

from .history import CITED, HOSTILE, LINE, write

if TYPE_CHECKING:
    from playwright import sync_api as playwright

__all__ = ["embedded"]

pytestmark = pytest.mark.slow
VIEWS = (
    "/",
    "/jobs",
    f"/job?{urlencode({'id': HOSTILE})}",
    "/job?id=steady",
    "/decisions",
    "/goodput",
    "/nodes",
    "/node?id=n1",
    "/shadow",
    "/spot",
    "/questions",
    "/questions/bridge",
    f"/lines?topic=job-logs&partition=0&offset=7&line={CITED}",
    "/job?id=odd",
    "/job?id=nobody",
)


def test_from_the_start_page_to_the_line_that_explains_a_failure(tab: "playwright.Page") -> None:
    tab.goto("/")
    tab.get_by_role("link", name=re.compile(re.escape(HOSTILE[:20]))).first.click()
    assert "cuda out of memory" in tab.locator("#state").inner_text()
    assert tab.get_by_role("heading", name="What to do").is_visible()
    shown = LINE.replace("\x1b", "\\x1b")
    assert tab.locator("pre", has_text=shown).first.is_visible()
    assert "owned" not in tab.title().split("·")[1]
    assert tab.evaluate("document.images.length") == 0
    tab.get_by_role("link", name="The lines around it").first.click()
    assert tab.locator("#cited code").inner_text() == shown
    tab.get_by_role("link", name="← earlier lines").click()
    tab.get_by_text("line 29 of message 4").wait_for()
    tab.go_back()
    assert tab.locator("#cited code").inner_text() == shown


def test_a_slow_rank_is_seen_on_the_map(tab: "playwright.Page") -> None:
    tab.goto("/job?id=odd")
    cells = tab.locator("svg.ranks rect")
    told = {cell.locator("title").text_content(): cell.get_attribute("class") for cell in cells.all()}
    slow = {text for text, level in told.items() if level == "slow"}
    assert slow == {"rank 1: 1.8 s a step, 1.33 of the median"}
    assert cells.first.is_visible()


def test_an_operator_rejects_what_waits(chromium: "playwright.Browser", embedded: Embedded) -> None:
    write(embedded)
    access, written = Linked("alice"), []
    with web_server(embedded.connect, {}, access=access, write=written.append) as address:
        context = chromium.new_context(base_url=address)
        tab = context.new_page()
        tab.goto(access.link)
        tab.get_by_role("link", name="Decisions").click()
        waiting = tab.locator("section.notice", has_text="Waits for approval")
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
        tab.locator("#evidence > summary").click()
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


def test_the_search_is_one_key_away_from_any_page(tab: "playwright.Page") -> None:
    tab.goto("/decisions")
    tab.keyboard.press("/")
    tab.wait_for_url("**/jobs#q")
    tab.keyboard.type("steady")
    tab.get_by_role("status").filter(has_text=re.compile(r"^1 job$")).wait_for()


@pytest.mark.parametrize("view", ["/decisions", "/questions/bridge"])
def test_on_a_phone_every_word_of_a_table_is_in_sight(chromium: "playwright.Browser", page: str, view: str) -> None:
    context = chromium.new_context(base_url=page, viewport={"width": 360, "height": 740})
    tab = context.new_page()
    tab.goto(view)
    cells = tab.locator(".scroll td:visible")
    edges = [box["x"] + box["width"] for box in (cell.bounding_box() for cell in cells.all()) if box]
    assert len(edges) > 5
    assert max(edges) <= 360
    context.close()


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
    assert tab.locator("svg.plot").is_visible()
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
    context = chromium.new_context(
        base_url=page, viewport={"width": 360, "height": 740}, color_scheme=scheme, bypass_csp=True
    )
    tab = context.new_page()
    tab.goto(view)
    found = complaints(tab)
    context.close()
    assert found == []


def test_axe_finds_nothing_to_complain_of_in_what_an_operator_sees(
    chromium: "playwright.Browser", embedded: Embedded
) -> None:
    write(embedded)
    access = Linked("alice")
    with web_server(embedded.connect, {}, access=access, write=lambda _: None) as address:
        context = chromium.new_context(base_url=address, viewport={"width": 1400, "height": 900}, bypass_csp=True)
        tab = context.new_page()
        tab.goto(access.link)
        found = {view: complaints(tab) for view in ("/", "/decisions") if tab.goto(view)}
        assert tab.get_by_role("button", name="Stop all actions").is_visible()
        context.close()
    assert found == {"/": [], "/decisions": []}


def complaints(tab: "playwright.Page") -> list[tuple[str, list[str]]]:
    """Return the rules that the page in the tab breaks, and where."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    found = axe.Axe().run(tab).response["violations"]
    return [(one["id"], [node["target"] for node in one["nodes"]]) for one in found]


@pytest.mark.parametrize("javascript", [False, True], ids=["plain", "javascript"])
def test_a_stranger_finds_the_cause_and_the_slowest_job_by_links_alone(
    chromium: "playwright.Browser", page: str, javascript: bool
) -> None:
    context = chromium.new_context(base_url=page, java_script_enabled=javascript)
    tab = context.new_page()
    tab.goto("/")
    tab.get_by_role("link", name=re.compile("failed")).first.click()
    tab.get_by_role("rowheader").get_by_role("link").first.click()
    assert "cuda out of memory" in tab.locator("#state").inner_text()
    assert tab.get_by_role("heading", name="What to do").is_visible()
    assert tab.locator("pre", has_text="CUDA error").first.is_visible()
    tab.get_by_role("link", name="SchedMate").click()
    tab.get_by_role("link", name="Running jobs, slowest step first").click()
    tab.get_by_role("heading", level=1, name="Jobs").wait_for()
    assert tab.get_by_role("rowheader").first.inner_text() == "odd"
    context.close()
