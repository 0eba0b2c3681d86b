"""Lines that Kafka does not keep any more are shown from ClickHouse, and verdicts link to another system."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from processors.diagnose import load
from schedmate.services.job_lines import JobLineWriter
from schedmate_records import LogChunk, Position
from sinks.clickhouse.writer import ClickHouseWriter
from streams.transport import BrokerUnavailable, Message
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded, embedded

from .history import HOSTILE, write

__all__ = ["embedded"]

ODD = "<b>{{7*7}}</b> & more"


def forgotten(place: Position, _: int) -> Iterator[Message]:
    """Yield nothing: the topic has expired; of one partition, the broker does not answer."""
    if place.partition == 7:
        raise BrokerUnavailable("expected an answer")
    yield from ()


@pytest.fixture(scope="module")
def page(embedded: Embedded) -> Iterator[str]:
    write(embedded)
    lines = JobLineWriter(ClickHouseWriter(embedded.connect), 1.0)
    for offset in range(5):
        texts = [f"line {number}" for number in range(offset * 100 + 1, offset * 100 + 101)]
        chunk = LogChunk(job=ODD, node="n1", rank=3, producer="p", first_line=offset * 100 + 1, first_piece=offset * 100 + 1,
                         lines=texts, time=1_790_000_000.0 + offset)  # fmt: skip
        lines.write([(Position("job-logs", 2, offset), chunk)])
    template = "https://logs.example.org/?job={job}&rank={rank}"
    known = {one.name: one for one in load()}
    with web_server(embedded.connect, known, read=forgotten, log_link=template) as address:
        yield address


def fetched(page: str, path: str, **query: object) -> str:
    with urllib.request.urlopen(f"{page}{path}?{urlencode(query)}", timeout=30) as answer:
        return str(answer.read().decode())


def test_lines_around_a_stored_one_are_shown(page: str) -> None:
    place = {"topic": "job-logs", "partition": 2, "offset": 2, "line": 250}
    shown = fetched(page, "/lines", **place, job=ODD)
    assert "stdout of rank 3 on n1, attempt 0" in shown
    assert "<code>line 190</code>" in shown
    assert "<code>line 310</code>" in shown
    assert "line 189<" not in shown
    cited = shown[shown.index('id="cited"') :]
    assert cited.index("line 250") < cited.index("line 251")
    assert "offset=3&amp;line=310&amp;job=%3Cb" in shown, "the link to later lines"
    assert "<b>{{" not in shown


def test_a_line_that_is_nowhere_is_gone(page: str) -> None:
    for query in ({"partition": 2, "job": "other"}, {"partition": 2}, {"partition": 3, "job": ODD}):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            fetched(page, "/lines", topic="job-logs", offset=2, line=250, **query)
    with pytest.raises(urllib.error.HTTPError, match="503"):
        fetched(page, "/lines", topic="job-logs", partition=7, offset=2, line=250, job=ODD)


def test_verdicts_link_to_their_lines_and_to_the_other_system(page: str) -> None:
    shown = fetched(page, "/job", id=HOSTILE)
    assert 'href="/lines?topic=job-logs' in shown
    assert 'href="https://logs.example.org/?job=' in shown
