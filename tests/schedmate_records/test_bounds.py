"""Which values of fields are refused, whatever the record."""

from typing import get_args

import msgspec
import pytest

from schedmate_records import (
    TOPICS,
    Action,
    Decision,
    EventKind,
    Evidence,
    GpuProcess,
    GpuSample,
    InvalidRecord,
    JobEvent,
    JobMetric,
    LogChunk,
    NodeFinding,
    Placement,
    Quota,
    Record,
    check,
)
from schedmate_records.bounds import COUNT, NAME, NAMES

ESC = "n1\x1b[31m"
EVENT = JobEvent(id="e", job="7", kind=EventKind.STARTED, time=1.0)


def refused(record: Record, expected: str) -> None:
    with pytest.raises(InvalidRecord, match=expected):
        check(record)


@pytest.mark.parametrize("name", [ESC, "a" * (NAME + 1), "", " "], ids=["escape", "long", "empty", "blank"])
def test_names_in_lists_are_checked(name: str) -> None:
    refused(msgspec.structs.replace(EVENT, nodes=["n1", name]), "nodes")
    decision = Decision(
        id="d", action=Action.RESTART, job="7", time=1.0, expires=2.0, policy="p", reason="r", exclude_nodes=[name]
    )
    refused(decision, "exclude_nodes")


def test_a_list_of_names_has_a_limit() -> None:
    check(msgspec.structs.replace(EVENT, nodes=["n"] * NAMES))
    refused(msgspec.structs.replace(EVENT, nodes=["n"] * (NAMES + 1)), "names in nodes")


def test_names_within_structures_are_checked() -> None:
    sample = GpuSample(id="g", node="n1", gpu=0, time=1.0, processes=[GpuProcess(pid=1, job=ESC)])
    refused(sample, "job")
    refused(msgspec.structs.replace(sample, processes=[GpuProcess(pid=1, job="7", rank=-1)]), "rank")


REQUIRED = [
    (topic.record, field.name)
    for topic in TOPICS
    for field in msgspec.structs.fields(topic.record)
    if field.required and field.name in ("job", "node", "packed_job", "cluster")
]


@pytest.mark.parametrize(("kind", "field"), sorted(set(REQUIRED), key=str))
def test_a_required_name_is_not_empty(kind: type[Record], field: str) -> None:
    given = {each.name: _plausible(each) for each in msgspec.structs.fields(kind) if each.required}
    record = msgspec.convert(given, kind)
    check(record)
    for empty in ("", "  "):
        refused(msgspec.structs.replace(record, **{field: empty}), f"expected a name in {field}.*set {field}")


def _plausible(field: msgspec.structs.FieldInfo) -> object:
    special = {
        "kind": "started", "action": "notify", "error_type": "other", "severity": "info", "state": "durable", "lines": [],
        "place": {"topic": "t", "partition": 0, "offset": 0, "line": 1, "text": ""}, "raised": True, "command": "stop",
    }  # fmt: skip
    if field.name in special:
        kinds = msgspec.json.schema(field.type) if field.name == "kind" else {}
        names = next(iter(kinds.get("$defs", {}).values()), {}).get("enum")
        return names[0] if names else special[field.name]
    return "x" if str in (field.type, *get_args(field.type)) else 1


def test_optional_names_may_be_empty() -> None:
    check(LogChunk(job="7", lines=[], time=1.0, node=""))
    check(NodeFinding(
        id="f", node="n1", time=1.0, signature="s", severity="info", error_type="none",
        place=Evidence(topic="t", partition=0, offset=0, line=1, text=""),
    ))  # fmt: skip


@pytest.mark.parametrize("lines", [-5, -1, COUNT + 1, 1 << 62])
def test_counts_of_lost_lines_are_bounded(lines: int) -> None:
    check(msgspec.structs.replace(EVENT, kind=EventKind.LINES_LOST, lines=COUNT))
    refused(msgspec.structs.replace(EVENT, kind=EventKind.LINES_LOST, lines=lines), "lines")


@pytest.mark.parametrize(
    "fields",
    [{"node_count": -1}, {"cpus": -1.0}, {"gpus": -0.5}, {"memory_gib": -1.0}, {"time_limit_s": -3.0}],
    ids=str,
)
def test_no_count_of_an_event_is_negative(fields: dict[str, float]) -> None:
    refused(msgspec.structs.replace(EVENT, **fields), next(iter(fields)))


def test_no_count_of_other_records_is_negative() -> None:
    refused(JobMetric(id="m", job="7", time=1.0, reports=-1), "reports")
    refused(
        JobMetric(id="m", job="7", time=1.0, evidence=[Evidence(topic="t", partition=0, offset=-1, line=1, text="")]),
        "offset",
    )
    refused(Quota(id="q", cluster="c", time=1.0, until=2.0, safety=1.0, guarantee=0.9, guaranteed_h=-1), "guaranteed_h")
    refused(Placement(job="7", node="n1", since=-1.0, seen=1.0), "since")
