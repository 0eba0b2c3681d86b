"""A person finds what matters from the start page, by links alone: in Chromium, on a made history of seven jobs and two nodes."""

import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from processors.diagnose import load
from schedmate_records import Alarm, AlarmKind, Evidence, Failure, JobEvent, JobMetric, NodeFinding, Position, Record
from sinks.clickhouse.writer import ClickHouseWriter
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded

if TYPE_CHECKING:
    from playwright import sync_api as playwright

pytestmark = pytest.mark.slow
NOW = time.time()
LOST = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
KEY = "KeyError: 'accuracy'"
CLICKS = 3
"""Links that a person follows at most."""


def event(job: str, kind: str, ago: float, **fields: Any) -> JobEvent:
    known = {"scheduler": "slurm", "nodes": ["n3"], "gpus": 8.0, "user": "ada"} | fields
    return JobEvent(id=f"{job}/{kind}", job=job, kind=kind, time=NOW - ago, **known)  # type: ignore[arg-type]


def running(job: str, name: str, step_time_s: float, **metric: Any) -> list[Record]:
    steps = [
        JobMetric(id=f"{job}/{at}", job=job, time=NOW - at, step=1000 - at, step_time_s=step_time_s, **metric)
        for at in range(600, 0, -20)
    ]
    return [event(job, "started", 900, name=name), *steps]


def failed(job: str, name: str, host: str, line: str, **verdict: Any) -> list[Record]:
    root = Evidence(topic="job-logs", partition=0, offset=1, line=7, text=line, rank=0)
    return [
        event(job, "started", 900, name=name, nodes=[host]),
        event(job, "ended", 300, exit_code=1, state="FAILED", nodes=[host]),
        Failure(id=job, job=job, revision=1, time=NOW - 300, source="signature", message=line, confidence=0.9, root=root,
                evidence=[root], final=True, **verdict),
    ]  # fmt: skip


RECORDS: list[Record] = [
    *running("4801", "bert-base", 0.2, loss=1.0),
    *running("4802", "llama-70b-sft", 9.5, loss=1.0),
    *running("4803", "vit-large", 1.1, loss=1.0),
    *running("4804", "gpt2-medium", 0.5, loss_not_finite=True, loss_step=412),
    Alarm(id="a", job="4804", kind=AlarmKind.LOSS_NOT_FINITE, raised=True, time=NOW - 500, since=NOW - 500,
          detail="Loss NaN since step 412"),
    *failed("4805", "resnet", "n1", KEY, error_type="user_script", signature="KeyError"),
    *failed("4806", "moe-8x7b", "n7", LOST, error_type="infrastructure", faulty_component="gpu", signature="xid_fallen_off_bus",
            node="n7", restartable=True),
    NodeFinding(id="f", job="", node="n7", time=NOW - 300, signature="xid_fallen_off_bus", severity="fatal", error_type="infrastructure",
                component="gpu", place=Evidence(topic="node-logs", partition=0, offset=7, line=3, text=LOST)),
    event("4807", "submitted", 60, name="later"),
]  # fmt: skip


@pytest.fixture(scope="module")
def page(embedded: Embedded) -> Iterator[str]:
    writer = ClickHouseWriter(embedded.connect)
    writer.write([(Position("made", 0, place), record) for place, record in enumerate(RECORDS)])
    writer.close()
    with web_server(embedded.connect, {one.name: one for one in load()}) as address:
        yield address


class Person:
    """Follows links that are in sight, and counts them."""

    def __init__(self, tab: "playwright.Page") -> None:
        self.tab, self.clicks = tab, 0
        tab.goto("/")

    def follow(self, name: str) -> None:
        self.tab.get_by_role("link", name=re.compile(name)).first.click()
        self.clicks += 1

    def reads(self) -> str:
        assert self.clicks <= CLICKS
        return self.tab.locator("main").inner_text()


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["desk", "phone"])
def test_each_is_found_from_the_start_page(tab: "playwright.Page", size: tuple[int, int]) -> None:
    tab.set_viewport_size({"width": size[0], "height": size[1]})
    cause = Person(tab)
    assert "KeyError" in cause.reads(), "the start page names it"
    cause.follow("4805")
    assert tab.locator("#state").inner_text() == "Failed (KeyError)"
    assert KEY in cause.reads()
    assert "What to do" in cause.reads()

    slowest = Person(tab)
    slowest.follow("Running jobs, slowest step first")
    tab.get_by_role("heading", level=1, name="Jobs").wait_for()
    assert tab.get_by_role("rowheader").first.inner_text().split() == ["4802", "llama-70b-sft"]
    slowest.follow("4802")
    assert "llama-70b-sft" in slowest.reads()
    assert "9.50 s" in slowest.reads()

    diverged = Person(tab)
    assert "loss NaN since step 412" in diverged.reads()
    diverged.follow("gpt2-medium")
    assert tab.locator("#state").inner_text() == "Running, loss NaN since step 412"

    node = Person(tab)
    assert "on n7" in node.reads()
    node.follow("^n7$")
    assert "Unhealthy" in node.reads()
    assert "xid fallen off bus" in node.reads()
    assert "What to do" in node.reads()
    nodes = Person(tab)
    nodes.follow("^All nodes$")
    assert tab.get_by_role("rowheader").first.inner_text() == "n7"
