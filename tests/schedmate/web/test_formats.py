"""The page on which an operator states the format of a job's log."""

import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from http.cookiejar import CookieJar
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from processors.formats import KnownFormats
from processors.settings import ProcessorSettings
from schedmate.formats.taught_log import read_chunks_with
from schedmate.web.access import Linked
from schedmate_records import JobEvent, KnownFormat, LogChunk, Position, encode
from sinks.clickhouse.writer import ClickHouseWriter
from streams.transport import Message
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded, embedded

if TYPE_CHECKING:
    from playwright import sync_api as playwright

__all__ = ["embedded"]

LINES = [f"zug {10 * at}.0 obj {3 / at:.4f} <b>tick</b> 200.0" for at in range(1, 60)]
"""A log whose names no rule knows."""
CHUNK = LogChunk(job="home", time=1_700_000_000.0, lines=LINES, first_line=1, first_piece=1, producer="p")
RIGHT = {"role-1": "step", "role-2": "loss", "role-3": "step_time", "unit-3": "ms", "reports-1": "training"}


def newest(job: str, count: int) -> Iterator[Message]:
    """Yield the lines of the job `home`, as Kafka would, and those of another job of its partition."""
    assert count > 0
    for offset, each in enumerate([CHUNK] if job == "home" else []):
        yield Message(Position("job-logs", 0, offset), each.job.encode(), encode(each), each.time)


@pytest.fixture(scope="module")
def history(embedded: Embedded) -> Embedded:
    writer = ClickHouseWriter(embedded.connect)
    started = [
        JobEvent(id=job, job=job, kind="started", time=CHUNK.time, scheduler="slurm") for job in ("home", "mute")
    ]
    writer.write([(Position("job-events", 0, at), each) for at, each in enumerate(started)])
    writer.close()
    return embedded


class Served:
    """The page, an operator's browser, and the formats that were stored."""

    def __init__(self, address: str, access: Linked, taught: list[KnownFormat]) -> None:
        self.address, self.access, self.taught = address, access, taught
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def open(self, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        body = urllib.parse.urlencode(form).encode() if form is not None else None
        try:
            with self._opener.open(urllib.request.Request(self.address + path, body), timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def form(self) -> dict[str, str]:
        """Return the fields of the form of the job `home` that are not shown to people, as an operator gets them."""
        assert self.open(self.access.link)[0] == 200
        page = self.open("/format?id=home")[1]
        found = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]+)"', page))
        assert set(found) == {"token", "question"}
        return found | {"training": "yes"}


@pytest.fixture
def site(history: Embedded) -> Iterator[Served]:
    access, taught = Linked("alice"), list[KnownFormat]()
    with web_server(history.connect, {}, access=access, newest=newest, teach=taught.append) as address:
        yield Served(address, access, taught)


def test_stored_format_is_the_one_that_the_form_states(site: Served) -> None:
    assert site.open("/format", site.form() | RIGHT | {"do": "save"})[0] == 200
    (taught,) = site.taught
    assert (taught.author, taught.person, taught.training) == ("alice", True, True)
    metric = read_chunks_with(Path("home"), [CHUNK], ProcessorSettings(), taught).metric
    assert metric is not None
    assert (metric.step, metric.step_time_s) == (590, 0.2)
    assert KnownFormats([taught]).match({taught.templates[0].text: 59}) is not None


def test_what_the_format_reads_is_shown_before_it_is_stored(site: Served) -> None:
    status, page = site.open("/format", site.form() | RIGHT | {"do": "show"})
    assert status == 200
    assert "progress: step 590, loss 0.0508" in page
    assert site.taught == []


def test_unit_that_fits_no_role_is_not_stored(site: Served) -> None:
    page = site.open("/format", site.form() | RIGHT | {"unit-3": "samples/s", "do": "save"})[1]
    assert "expected one of s, ms, us, min, h as unit of step_time, got samples/s" in page
    assert site.taught == []


@pytest.mark.parametrize(
    "change",
    [
        {"token": "x"},
        {"question": "x"},
        {"role-1": "wizard"},
        {"training": "perhaps"},
        {"steps-3": "-5"},
        {"reports-1": "all"},
    ],
)
def test_form_that_the_page_did_not_make_is_refused(site: Served, change: dict[str, str]) -> None:
    assert site.open("/format", site.form() | RIGHT | {"do": "save"} | change)[0] in {400, 403, 409}
    assert site.taught == []


def test_visitor_without_rights_reads_and_stores_nothing(site: Served) -> None:
    status, page = site.open("/format?id=home")
    assert status == 200
    assert "zug 590.0" in page
    assert "<select" not in page
    assert site.open("/format", {"question": "x", "do": "save"})[0] == 403
    assert site.taught == []


def test_text_of_a_log_is_escaped(site: Served) -> None:
    assert "<b>tick" not in site.open("/format?id=home")[1]


def test_job_without_lines_names_the_command_line(site: Served) -> None:
    status, page = site.open("/format?id=mute")
    assert status == 404
    assert "schedmate formats teach" in page


def test_stored_lines_precede_those_of_kafka(history: Embedded) -> None:
    client = history.connect()
    rows = [
        [
            "s",
            "stored",
            0,
            "",
            "n1",
            0,
            "stdout",
            "p",
            at,
            at,
            datetime(2027, 1, 1, tzinfo=UTC),
            f"tour {at} score {3 / at:.4f}",
            0,
        ]
        for at in range(1, 40)
    ]
    columns = [
        "id",
        "job",
        "attempt",
        "incarnation",
        "node",
        "rank",
        "stream",
        "producer",
        "piece",
        "line",
        "time",
        "text",
        "omitted",
    ]
    client.insert("job_lines", rows, column_names=columns)
    client.close()
    with web_server(history.connect, {}, newest=newest) as address:
        page = urllib.request.urlopen(f"{address}/format?id=stored", timeout=60).read().decode()
    assert "tour 39 score" in page


@pytest.mark.slow
def test_operator_teaches_a_format_in_the_browser(chromium: "playwright.Browser", site: Served) -> None:
    context = chromium.new_context(base_url=site.address)
    tab, complaints = context.new_page(), list[str]()
    tab.on("console", lambda message: complaints.append(message.text))
    tab.goto(site.access.link)
    tab.goto("/job?id=home")
    tab.get_by_role("link", name="Describe the numbers of its log").click()
    assert "zug 590.0" in tab.locator("pre").first.inner_text()
    tab.get_by_label("They report").select_option("training")
    for number, role in ((1, "step"), (2, "loss"), (3, "step time")):
        tab.get_by_label(f"Meaning of number {number}").select_option(label=role)
    tab.get_by_role("button", name="Preview").click()
    tab.get_by_role("alert").filter(has_text="expected one of s, ms").wait_for()
    tab.get_by_label("Unit of number 3").select_option("ms")
    tab.get_by_role("button", name="Preview").click()
    tab.get_by_text("speed: 200 ms a step").wait_for()
    tab.get_by_role("button", name="Save").click()
    tab.get_by_role("status").filter(has_text="Stored.").wait_for()
    assert [(each.author, each.person) for each in site.taught] == [("alice", True)]
    assert complaints == []
    context.close()
