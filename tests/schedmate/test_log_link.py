"""Links and commands that lead from a verdict to its lines."""

from datetime import UTC, datetime
from typing import Any

import pytest

from schedmate.log_link import log_command, log_link
from schedmate.services.job_lines import JobLineWriter
from schedmate.settings.settings import SettingsError, load
from schedmate_records import LogChunk, Position
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]


def verdict(**changed: Any) -> dict[str, Any]:
    known = {"attempt": 1, "rank": 3, "node": "n1", "root_topic": "job-logs", "root_line": 77, "root_text": "a & b/ü"}
    return {**known, "time": datetime.fromtimestamp(1_790_000_000, UTC), **changed}


def test_every_value_is_quoted_for_an_address() -> None:
    template = "https://logs.example.org/{job}?r={rank}&n={node}&from={from}&to={to}&q={text}"
    assert log_link(template, "a/b", verdict()) == (
        "https://logs.example.org/a%2Fb?r=3&n=n1&from=1789999400000&to=1790000600000&q=a%20%26%20b%2F%C3%BC"
    )
    assert log_link("https://x/{rank}", "j", verdict(rank=None)) == "https://x/"


@pytest.mark.parametrize(
    "template",
    ["javascript:alert({job})", "https://x/{jobs}", "https://x/{job.__class__}", "https://x/{}", "https://x/{job"],
)
def test_a_template_with_other_fields_is_refused(template: str) -> None:
    with pytest.raises(SettingsError, match=r"web\.log_link"):
        load(None, {"web.log_link": template})


def test_the_command_is_named_where_lines_are_stored(embedded: Embedded) -> None:
    assert log_command(embedded.client, "a b", verdict()) == ""
    chunk = LogChunk(job="a b", lines=["x"], time=1_790_000_000.0, first_line=1, first_piece=1, producer="p")
    JobLineWriter(ClickHouseWriter(embedded.connect), 1.0).write([(Position("job-logs", 0, 1), chunk)])
    assert log_command(embedded.client, "a b", verdict()) == "schedmate logs 'a b' --attempt 1 --rank 3 --around 77"
    assert log_command(embedded.client, "a b", verdict(rank=None)) == "schedmate logs 'a b' --attempt 1 --around 77"
    assert log_command(embedded.client, "a b", verdict(root_line=None)) == ""
    assert log_command(embedded.client, "a b", verdict(root_topic="node-logs")) == ""
