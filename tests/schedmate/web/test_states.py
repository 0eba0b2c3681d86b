"""The page states what became of each kind of job, in Chromium."""

import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from schedmate_records import Action, Alarm, Decision, JobEvent, JobMetric, Mode, Position, Record
from sinks.clickhouse.writer import ClickHouseWriter
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded

if TYPE_CHECKING:
    from playwright import sync_api as playwright

pytestmark = pytest.mark.slow

NOW = float(int(time.time()))
END = {"COMPLETED": (0, 0), "FAILED": (1, 0), "CANCELLED by 1000": (0, 15), "TIMEOUT": (0, 0), "": (None, None)}


def event(job: str, kind: str, ago: float, attempt: int = 0, **fields: Any) -> JobEvent:
    known = {"scheduler": "slurm", "nodes": ["n1"], "gpus": 8.0, "user": "ada"} | fields
    return JobEvent(id=f"{job}/{attempt}/{kind}", job=job, attempt=attempt, kind=kind, time=NOW - ago, **known)  # type: ignore[arg-type]


def ended(job: str, state: str, **fields: Any) -> list[Record]:
    exit_code, signal = END[state]
    how = {"state": state, "exit_code": exit_code, "signal": signal} | fields
    return [event(job, "started", 3000, **fields), event(job, "ended", 600, **how)]


def report(job: str, step: int, ago: float, **fields: Any) -> JobMetric:
    return JobMetric(id=f"{job}/{step}", job=job, time=NOW - ago, step=step, step_time_s=0.1, confidence=0.9, **fields)


def alarm(job: str, kind: str, detail: str, since: float, over: float | None = None) -> list[Record]:
    known: dict[str, Any] = {"job": job, "kind": kind, "detail": detail, "since": NOW - since}
    raised = Alarm(id=f"{job}/{kind}/1", raised=True, time=NOW - since + 1, **known)
    return [raised] if over is None else [raised, Alarm(id=f"{job}/{kind}/0", raised=False, time=NOW - over, **known)]


PIPE: dict[str, Any] = {"scheduler": "pipe", "gpus": None}
RECORDS: list[Record] = [
    *ended("nan", "COMPLETED"),
    *(report("nan", step, 2900 - step, loss=1.176, loss_step=step) for step in range(5, 125, 5)),
    *(report("nan", step, 2900 - step, loss_not_finite=True, loss_step=125) for step in range(125, 605, 5)),
    *alarm("nan", "loss_not_finite", "Loss NaN since step 125", 2775, over=600),
    *ended("stopped", "CANCELLED by 1000"),
    *ended("slow", "TIMEOUT"),
    event("piped", "started", 3000, **PIPE),
    event("piped", "ended", 600, **PIPE, exit_code=1, signal=0),
    event("unseen", "started", 3000, **PIPE),
    event("unseen", "ended", 600, **PIPE),
    event("hung", "started", 3000),
    *(report("hung", step, 1260 + 2 * (150 - step), loss=2.0, loss_step=step) for step in range(5, 155, 5)),
    *alarm("hung", "hang", "no report since step 150; one came every 10 s before", 1260),
    event("evicted", "started", 3000),
    event("evicted", "requeued", 2000),
    event("evicted", "started", 1900, attempt=1),
    Decision(
        id="evict/evicted", job="evicted", action=Action.EVICT, mode=Mode.ACT, policy="spot", reason="A job needs its GPUs.",
        time=NOW - 2010, expires=NOW,
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def page(embedded: Embedded) -> Iterator[str]:
    writer = ClickHouseWriter(embedded.connect)
    writer.write([(Position("made", 0, place), record) for place, record in enumerate(RECORDS)])
    writer.close()
    with web_server(embedded.connect, {}) as address:
        yield address


@pytest.mark.parametrize(
    ("job", "sentence", "absent"),
    [
        ("nan", "Completed, loss NaN since step 125", "1.176"),
        ("stopped", "Cancelled", "failed"),
        ("slow", "Time limit", "no record shows a failure"),
        ("piped", r"Failed \(exit code 1\)", "ended well"),
        ("unseen", "Ended, outcome unknown", "ended well"),
        ("hung", r"Silent for \d+ min", "480 s"),
    ],
)
def test_a_jobs_page_begins_with_its_state(tab: "playwright.Page", job: str, sentence: str, absent: str) -> None:
    tab.goto(f"/job?id={job}")
    assert re.fullmatch(sentence, tab.locator("#state").inner_text())
    assert absent not in tab.locator("main").inner_text()


def test_the_list_has_the_same_words(tab: "playwright.Page") -> None:
    tab.goto("/jobs")
    rows = tab.get_by_role("row").filter(has=tab.get_by_role("rowheader"))
    words = {
        row.get_by_role("rowheader").inner_text().split()[0]: row.locator(".state").first.inner_text()
        for row in rows.all()
    }
    assert words == {
        "nan": "completed", "stopped": "cancelled", "slow": "time limit", "piped": "failed", "unseen": "ended, outcome unknown",
        "hung": "silent", "evicted": "running",
    }  # fmt: skip
    assert "\u2013" in rows.filter(has_text="piped").inner_text(), "nobody reported its GPUs"
    tab.goto("/jobs?show=failed")
    assert set(tab.get_by_role("rowheader").all_inner_texts()) == {"piped", "slow"}


def test_the_axis_of_a_silent_job_reaches_to_the_present(tab: "playwright.Page") -> None:
    tab.goto("/job?id=hung")
    last = tab.locator("svg.plot [data-at]").last.get_attribute("data-at") or ""
    assert tab.evaluate(f"Date.now() - Date.parse('{last}')") < 120_000
    label = tab.locator("dl.facts").inner_text()
    assert re.search(r"last reported minute\s+0.1\d* s, (?:\d+ minutes|1 hour) ago", label)


def test_the_page_of_an_evicted_job_has_the_history_of_all_attempts(tab: "playwright.Page") -> None:
    tab.goto("/job?id=evicted&attempt=1")
    section = tab.locator("section", has=tab.get_by_role("heading", name="Actions"))
    assert "A job needs its GPUs." in section.inner_text()
    assert "(attempt 0)" in section.inner_text()


def test_the_start_page_groups_jobs_by_cause(tab: "playwright.Page") -> None:
    tab.goto("/")
    groups = tab.locator(".troubles li")
    assert {text.split(" \u00b7 ")[0] for text in groups.locator("strong").all_inner_texts()} == {
        "1 job: loss not finite", "1 job: exit code 1", "1 job: time limit", "1 job: hang",
    }  # fmt: skip
    assert "nan" in groups.filter(has_text="loss not finite").inner_text()
    needs = tab.get_by_role("heading", name="Needs a look").bounding_box()
    use = tab.get_by_role("heading", name="Use of the cluster").bounding_box()
    assert needs
    assert use
    assert needs["y"] < use["y"]


def test_the_list_shows_one_state_of_a_job(tab: "playwright.Page") -> None:
    tab.goto("/jobs")
    for job, marks, text in (("nan", ["completed"], "loss NaN since step 125"), ("hung", ["silent"], "")):
        row = tab.get_by_role("row").filter(has=tab.get_by_role("rowheader", name=job, exact=True))
        assert row.locator(".state").all_inner_texts() == marks
        assert row.locator("td.wide").inner_text() == text
        tab.goto(f"/job?id={job}")
        assert tab.locator("main .state").count() == 0
        assert tab.get_by_role("heading", name="What to do").is_visible()
        tab.goto("/jobs")


def test_the_page_of_an_earlier_attempt_begins_with_its_state(tab: "playwright.Page") -> None:
    tab.goto("/job?id=evicted&attempt=0")
    assert tab.locator("#state").inner_text() == "Requeued"
    assert "The job is at attempt 1: running." in tab.locator("main").inner_text()
    shown = dict(zip(*(tab.locator(f".facts {tag}").all_inner_texts() for tag in ("dt", "dd")), strict=True))
    assert shown["Attempt"] == "0"
    assert shown["Ran for"] == "16 minutes"
    tab.get_by_role("link", name="attempt 1").click()
    assert tab.locator("#state").inner_text() == "Running"
    assert re.fullmatch(r"for (?:\d+ minutes|1 hour)", tab.locator(".since").inner_text())


def test_no_table_is_cut_off_without_a_sign(tab: "playwright.Page") -> None:
    tab.set_viewport_size({"width": 1280, "height": 800})
    for path in ("/", "/jobs", "/nodes", "/goodput"):
        tab.goto(path)
        wide = tab.locator(".scroll").evaluate_all(
            "parts => parts.filter((part) => part.scrollWidth > part.clientWidth).length"
        )
        assert wide == 0, path


def test_two_jobs_are_compared_on_the_same_charts(tab: "playwright.Page") -> None:
    tab.goto("/job?id=nan")
    tab.get_by_role("link", name="Compare with another job").click()
    tab.get_by_label("with", exact=True).fill("hung")
    tab.get_by_role("button", name="Compare").click()
    shown = tab.locator("main").inner_text()
    assert "completed, loss NaN since step 125" in shown
    assert re.search(r"silent for \d+ min", shown)
    assert tab.locator("svg.plot", has=tab.locator("path.c2")).count() == 2


def test_no_job_is_cut_off_on_a_phone(tab: "playwright.Page") -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    for path in ("/", "/jobs", "/job?id=nan", "/nodes"):
        tab.goto(path)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, path


def test_the_events_of_a_job_are_listed(tab: "playwright.Page") -> None:
    tab.goto("/job?id=nan")
    assert tab.locator("#events summary").inner_text() == "3 events"
