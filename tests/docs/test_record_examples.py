"""docs/records.md shows every record as it is."""

import json
import re

import msgspec
import pytest

from processors.diagnose.catalogue import load
from schedmate_records import BY_NAME, TOPICS, Evidence, GpuProcess, LogChunk, Position, decode
from streams.accept import accept
from streams.topics import LAYOUTS
from streams.transport import Message

from .pages import ROOT, blocks

PAGE = (ROOT / "docs" / "records.md").read_text()
SECTIONS = dict(re.findall(r"^## ([\w-]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def example(topic: str) -> bytes:
    (shown,) = [block for block in blocks(SECTIONS[topic]) if block.startswith("{")]
    return shown.encode()


@pytest.mark.parametrize("topic", sorted(BY_NAME))
def test_an_example_is_a_record_with_all_its_fields(topic: str) -> None:
    kind = BY_NAME[topic].record
    record = decode(kind, example(topic))
    shown = json.loads(example(topic))
    assert set(shown) == {field.encode_name for field in msgspec.structs.fields(kind)}
    assert json.loads(msgspec.json.encode(record)) == shown, "a value is shown that is read as another"
    single = [shown[name] for name in ("root", "place") if shown.get(name)]
    for part in [*shown.get("evidence", []), *single]:
        assert set(part) == set(Evidence.__struct_fields__)
    for part in shown.get("processes", []):
        assert set(part) == set(GpuProcess.__struct_fields__)


def test_the_examples_quote_one_another() -> None:
    failure, decision = json.loads(example("failures")), json.loads(example("decisions"))
    result = json.loads(example("decision-results"))
    assert decision["cause_id"] == failure["id"]
    assert result["decision_id"] == decision["id"]
    assert result["id"] == f"{decision['id']}/{result['outcome']}"
    chunk, root = json.loads(example("job-logs")), failure["root"]
    assert chunk["lines"][root["line"] - chunk["first_line"]] == root["text"]


def test_the_table_of_topics_is_right() -> None:
    rows = re.findall(r"^\| \[`([\w-]+)`\]\(#[\w-]+\) \| `(\w+)` \| (\w+) \|.*\| (\d+) days? \|$", PAGE, re.MULTILINE)
    kept = {layout.name: int(layout.config["retention.ms"]) // 86_400_000 for layout in LAYOUTS}
    assert {name: (record, key, int(days)) for name, record, key, days in rows} == {
        topic.name: (topic.record.__name__, topic.key, kept[topic.name]) for topic in TOPICS
    }


def test_the_foreign_line_is_taken() -> None:
    (line,) = re.findall(r'^ +(\{"message".*\})$', PAGE, re.MULTILINE)
    shown = json.loads(line)
    chunk = accept(Message(Position("job-logs", 0, 0), None, line.encode(), 5.0))
    assert isinstance(chunk, LogChunk)
    assert chunk.lines == [shown["message"]]
    assert (chunk.job, chunk.node, chunk.rank, chunk.stream) == ("4711", "n1", 0, "stdout")
    assert chunk.time == 1_800_000_000.0


def test_the_signature_that_is_quoted_is_known() -> None:
    assert json.loads(example("failures"))["signature"] in {signature.name for signature in load()}
