"""Goodput and report cards on the page, in Chromium."""

import json
import time
import urllib.request
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from processors.diagnose import load
from schedmate.goodput import this_month
from schedmate_records import Failure, GpuActivity, GpuProcess, GpuSample, JobEvent, JobMetric, Position, Record
from sinks.clickhouse.writer import ClickHouseWriter
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded

if TYPE_CHECKING:
    from playwright import sync_api as playwright

pytestmark = pytest.mark.slow
NOW = time.time()
HOUR = 3600.0


def event(job: str, kind: str, ago: float, **fields: Any) -> JobEvent:
    known = {"scheduler": "slurm", "nodes": ["n7"], "gpus": 4.0, "user": "ada", "name": "llama"} | fields
    return JobEvent(id=f"{job}/{kind}", job=job, kind=kind, time=NOW - ago, **known)  # type: ignore[arg-type]


RECORDS: list[Record] = [
    event("good", "submitted", 2100, time_limit_s=2 * HOUR),
    event("good", "started", 1800, time_limit_s=2 * HOUR),
    event("good", "ended", 600, exit_code=0, state="COMPLETED"),
    *(JobMetric(id=f"good/{at}", job="good", time=NOW - at, step=2000 - at, step_time_s=1.0) for at in range(610, 1800, 10)),
    GpuActivity(id="good/a", job="good", node="n7", time=NOW - 700, working_s=300, idle_s=900),
    GpuSample(id="g", node="n7", gpu=0, time=NOW - 900, utilisation=25, memory_used_bytes=60, memory_total_bytes=100,
              processes=[GpuProcess(pid=1, job="good")]),
    event("bad", "started", 1200, user="bob"),
    event("bad", "ended", 600, exit_code=1, state="FAILED"),
    Failure(id="bad/0", job="bad", revision=1, time=NOW - 600, error_type="infrastructure", faulty_component="gpu",
            signature="xid_fallen_off_bus", source="signature", message="Xid 79", node="n7", confidence=0.9),
    event("unknown", "started", 1200, gpus=None, user="", scheduler="pipe"),
    event("unknown", "ended", 600, gpus=None, user="", scheduler="pipe"),
]  # fmt: skip


@pytest.fixture(scope="module")
def page(embedded: Embedded) -> Iterator[str]:
    writer = ClickHouseWriter(embedded.connect)
    writer.write([(Position("made", 0, place), record) for place, record in enumerate(RECORDS)])
    writer.close()
    with web_server(embedded.connect, {one.name: one for one in load()}) as address:
        yield address


def test_the_start_page_shows_the_goodput_of_the_month(tab: "playwright.Page") -> None:
    if time.strftime("%Y-%m", time.gmtime(NOW - HOUR)) != this_month():
        pytest.skip("the month has just begun")
    tab.goto("/")
    panel = tab.locator("section[aria-labelledby=goodput]")
    panel.get_by_role("heading", level=2, name=f"Goodput, {this_month()}").wait_for()  # the page renews itself
    text = panel.inner_text()
    assert "goodput, of 2 GPU hours" in text
    for title, group in (("By cause", "xid fallen off bus"), ("By user", "bob"), ("Worst nodes", "n7")):
        table = panel.get_by_role("region", name=title)
        assert group in table.inner_text(), title
    panel.get_by_role("link", name="other months").click()
    assert "By number of GPUs" in tab.locator("main").inner_text()
    tab.get_by_role("navigation", name="Months").get_by_role("link").first.click()
    assert "No job with GPUs started in" in tab.locator("main").inner_text()


def test_goodput_has_twins(page: str) -> None:
    with urllib.request.urlopen(f"{page}/goodput.json") as answer:
        report = json.load(answer)
    assert {row["group"] for row in report["groups"]["user"]} == {"ada", "bob"}
    with urllib.request.urlopen(f"{page}/goodput.csv") as answer:
        assert answer.read().decode().startswith("by,group,")


def test_a_jobs_page_has_its_report_card(tab: "playwright.Page") -> None:
    tab.goto("/job?id=good")
    card = tab.locator("section[aria-labelledby=card]")
    rows = {
        row.get_by_role("rowheader").inner_text(): row.get_by_role("cell").all_inner_texts()
        for row in card.get_by_role("row").all()[1:]
    }
    assert rows["time"] == ["2 h", "20 min"]
    assert rows["waiting time"][1] == "5 min"
    assert rows["GPUs"] == ["4", "25% of the time working"]
    assert rows["CPUs"] == ["\u2013", "\u2013"]
    assert "Its GPUs were idle for 75% of the time" in card.inner_text()


def test_gpus_that_nobody_reported_are_a_dash(tab: "playwright.Page") -> None:
    tab.goto("/job?id=unknown")
    cells = tab.locator("section[aria-labelledby=card]").get_by_role("row").filter(has_text="GPUs").get_by_role("cell")
    assert cells.first.inner_text() == "\u2013"
