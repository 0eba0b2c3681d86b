"""What the views and their twins say, over HTTP."""

import csv
import io
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

import pytest

from schedmate.web.twins import as_csv
from sinks import SinkUnavailable
from tests.servers.web import web_server

from .history import CITED, HOSTILE, LINE

VIEWS = (
    "/",
    "/jobs",
    "/job?id=steady",
    "/compare?a=steady&b=odd",
    "/nodes",
    "/node?id=n1",
    "/shadow",
    "/spot",
    "/decisions",
    "/goodput",
    f"/lines?topic=job-logs&partition=0&offset=7&line={CITED}",
    "/questions",
    "/questions/nodes",
)


class Elements(HTMLParser):
    """Collects the elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, Mapping[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def get(page: str, path: str, **headers: str) -> tuple[int, Mapping[str, str], str]:
    request = urllib.request.Request(page + path, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def data(page: str, path: str) -> Any:
    status, _, text = get(page, path)
    assert status == 200, text
    return json.loads(text)


def jobs(page: str, **wanted: object) -> list[str]:
    return [row["job"] for row in data(page, f"/jobs.json?{urlencode(wanted)}")["jobs"]]


def test_each_job_is_in_its_condition(page: str) -> None:
    conditions = {row["job"]: row["condition"] for row in data(page, "/jobs.json")["jobs"]}
    assert conditions == {
        "steady": "running", "odd": "running", "again": "running", HOSTILE: "failed", "later": "queued", "well": "completed",
        "silent": "running",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"show": "trouble"}, {"odd", HOSTILE}),
        ({"show": "queued"}, {"later"}),
        ({"show": "alarm"}, {"odd"}),
        ({"q": "STEADY"}, {"steady"}),
        ({"q": "xid_fallen"}, {"again"}),
        ({"q": "' OR 1=1 --"}, set()),
        ({"q": "<script>"}, {HOSTILE}),
        ({"q": "n1", "show": "completed"}, {"well"}),
    ],
    ids=lambda given: str(sorted(given.items()) if isinstance(given, dict) else sorted(given)),
)
def test_jobs_are_searched_and_filtered(page: str, wanted: dict[str, str], found: set[str]) -> None:
    assert set(jobs(page, **wanted)) == found


def test_jobs_are_sorted(page: str) -> None:
    by_name = jobs(page, sort="job")
    assert by_name == sorted(by_name)
    assert jobs(page, sort="newest") == jobs(page, sort="oldest")[::-1]
    assert jobs(page, sort="job; DROP TABLE job_events") == jobs(page)


def test_a_job_that_was_restarted_shows_what_its_earlier_attempt_died_of(page: str) -> None:
    (row,) = data(page, "/jobs.json?q=again")["jobs"]
    assert (row["attempt"], row["cause"], row["causes"]) == (1, "", ["xid_fallen_off_bus"])


def test_the_list_says_the_newest_step_and_step_time(page: str) -> None:
    (row,) = data(page, "/jobs.json?q=steady")["jobs"]
    assert (row["step"], row["step_time_s"], row["throughput_unit"]) == (59, 0.5, "samples/s")


def test_the_page_of_a_job_says_how_long_it_will_take(page: str) -> None:
    said = Elements(get(page, "/job?id=steady")[2]).text
    assert "Time left" in said
    assert "until about" in said
    known = data(page, "/job.json?id=steady")["estimate"]
    assert (known["remaining_s"], known["done"], known["method"]) == (7270.0, 0.1, "progress")
    assert data(page, "/job.json?id=well")["estimate"] is None


@pytest.mark.parametrize(
    ("twin", "column", "holds"),
    [
        ("/cluster.csv", "job", HOSTILE),
        ("/node.csv?id=n1", "gpu", "0"),
        ("/questions.csv", "name", "top_causes"),
        (f"/lines.csv?topic=job-logs&partition=0&offset=7&line={CITED}", "text", LINE),
    ],
)
def test_a_twin_for_a_spreadsheet(page: str, twin: str, column: str, holds: str) -> None:
    status, _, text = get(page, twin)
    assert status == 200
    assert holds in {row[column] for row in csv.DictReader(io.StringIO(text))}


def test_the_list_of_questions_has_a_twin(page: str) -> None:
    assert "slower" in {row["name"] for row in data(page, "/questions.json")}


def test_the_start_page_names_the_cause_and_quotes_the_line(page: str) -> None:
    text = Elements(get(page, "/")[2]).text
    assert "cuda out of memory" in text
    assert "<img src=x onerror=" in text
    assert "All actions are stopped by bob" in " ".join(text.split())
    known = data(page, "/cluster.json")
    assert {name: row["jobs"] for name, row in known["counts"].items()} == {
        "running": 4, "failed": 1, "queued": 1, "completed": 1,
    }  # fmt: skip
    assert known["gpus"] == {"sampled": 1, "held": 1, "idle": 0}
    assert known["throughput"] == {"samples/s": {"throughput": 192.0, "jobs": 3}}, "of those that run"
    assert known["alarmed"] == 1
    assert "192 samples/s by 3 jobs" in " ".join(text.split())
    assert [each["id"] for each in known["waiting"]] == ["restart/'; rm -rf ~"]


def test_a_job_has_its_curves_marks_and_verdict(page: str) -> None:
    known = data(page, "/job.json?id=again")
    curves = {curve["name"]: curve["points"] for curve in known["timeline"]["curves"]}
    assert set(curves) == {"step time", "loss", "throughput"}
    assert {attempt for _, _, attempt in curves["loss"]} == {0, 1}
    kinds = [mark["kind"] for mark in known["timeline"]["marks"]]
    assert kinds == ["started", "checkpoint", "ended", "started", "verdict", "restart"]
    assert known["facts"]["attempt"] == 0
    elements = Elements(get(page, "/job?id=again")[2])
    assert "infrastructure (none) on n1" not in elements.text
    assert "xid fallen off bus" in elements.text
    (curve,) = [each for tag, each in elements.found if tag == "path" and each.get("class") == "curve c1"]
    assert (curve["d"] or "").count("M") == 2, "a gap between the attempts"


def test_a_jobs_own_page_says_what_the_list_says_of_it(page: str) -> None:
    rows = data(page, "/jobs.json")["jobs"]
    assert {row["job"] for row in rows} >= {"steady", "again", HOSTILE, "silent", "later", "well"}
    for row in rows:
        assert data(page, f"/job.json?{urlencode({'id': row['job']})}")["job"] == row


def test_gpu_use_is_drawn_where_samples_name_the_job(page: str) -> None:
    curves = {curve["name"]: curve["points"] for curve in data(page, "/job.json?id=steady")["timeline"]["curves"]}
    assert {value for _, value, _ in curves["GPU use"]} == {80.0}


def test_the_curves_as_csv(page: str) -> None:
    rows = list(csv.reader(io.StringIO(get(page, "/job.csv?id=steady")[2])))
    assert rows[0] == ["measurement", "unit", "unix_time", "value", "attempt"]
    assert ["step time", "s"] in [row[:2] for row in rows]


def test_csv_holds_no_formula() -> None:
    answer = as_csv("jobs", ("=a", "b"), [("=1+1", -1.5), ("@x", ["=1"])])
    assert bytes(answer.body).decode() == '\'=a,b\n\'=1+1,-1.5\n\'@x,"[""=1""]"\n'


def test_csv_gives_back_what_was_printed(page: str) -> None:
    rows = {row["job"]: row for row in csv.DictReader(io.StringIO(get(page, "/jobs.csv")[2]))}
    assert rows[HOSTILE]["message"] == LINE


def test_a_waiting_decision_shows_a_command_that_a_shell_reads_as_one_word(page: str) -> None:
    text = Elements(get(page, "/decisions")[2]).text
    assert """schedmate decisions approve 'restart/'"'"'; rm -rf ~' --reason""" in text
    assert "awaiting approval" in text
    ids = [row["id"] for row in data(page, f"/decisions.json?{urlencode({'job': 'again'})}")]
    assert ids == ["restart/again"]


@pytest.mark.parametrize("view", [*VIEWS, f"/job?{urlencode({'id': HOSTILE})}", f"/jobs?{urlencode({'q': HOSTILE})}"])
def test_nothing_of_a_job_becomes_markup(page: str, view: str) -> None:
    status, headers, text = get(page, view)
    assert status == 200
    elements = Elements(text)
    scripts = [each.get("src") for tag, each in elements.found if tag == "script"]
    drawing = ["/static/uplot.min.js", "/static/plots.js"] if view.startswith("/job?") else []
    assert scripts == ["/static/htmx.min.js", "/static/page.js", *drawing]
    assert not [each for tag, each in elements.found if tag in {"img", "iframe", "style"} or "style" in each]
    assert not [name for _, each in elements.found for name in each if name.startswith("on")]
    assert not {"\u202e", "\x1b"} & set(text), "marks that hide text are shown"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_links_of_the_views_lead_somewhere(page: str) -> None:
    links: dict[str, str] = {}
    for view in VIEWS:
        for tag, each in Elements(get(page, view)[2]).found:
            link = each.get("href") or ""
            if tag in {"a", "link"} and link.startswith("/"):
                links.setdefault(link.partition("?")[0], link)
    assert {"/jobs.csv", "/job", "/job.json", "/static/page.css", "/questions/slower"} <= set(links)
    for path, link in links.items():
        # A question that needs a value asks for it; its twins are shown once it has one.
        assert get(page, link)[0] == 200, path


def test_only_what_a_log_says_leads_to_its_lines(page: str) -> None:
    text = get(page, "/job?id=again")[2]
    assert "Xid 79" in text
    links = [each["href"] or "" for tag, each in Elements(text).found if (each.get("href") or "").startswith("/lines?")]
    assert len(links) == 1, "a GPU's sample stands in no log"
    assert get(page, links[0])[0] == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/job?id=nobody", 404), ("/job", 404), ("/job.json?id=nobody", 404), ("/job?id=steady&attempt=x", 400),
        ("/questions/none", 404), ("/questions/nodes?weeks=many", 400), ("/nothing", 404), ("/static/../app.py", 404),
        ("/jobs?page=99999999999999999999", 200), ("/jobs?page=-1&show=none&sort=none", 200), ("/jobs?page=4", 200),
    ],
)  # fmt: skip
def test_a_wrong_link_says_what_is_wrong(page: str, path: str, status: int) -> None:
    found, headers, text = get(page, path)
    assert found == status, text
    assert "Content-Security-Policy" in headers
    assert "Traceback" not in text


def test_another_name_that_leads_here_is_refused(page: str) -> None:
    assert get(page, "/", Host="attacker.example")[0] == 400


def test_a_database_that_is_away_is_said_and_asked_again() -> None:
    tries = 0

    def away() -> Any:
        nonlocal tries
        tries += 1
        raise SinkUnavailable("opening ClickHouse: connection refused <b>")

    with web_server(away, {}) as address:
        for path in ("/", "/jobs.json", "/health"):
            status, _, text = get(address, path)
            assert status == 503
            assert "connection refused" in text
    assert tries == 3
