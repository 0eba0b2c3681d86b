"""Jobs that need a look are grouped by cause."""

from datetime import UTC, datetime
from typing import Any

from schedmate.job_state import StateWord
from schedmate.web.cluster import group_troubles


def row(job: str, minute: int, **fields: Any) -> dict[str, Any]:
    known = {
        "job": job, "condition": StateWord.FAILED, "cause": "xid_fallen_off_bus", "error_type": "infrastructure", "reason": "",
        "alarms": [], "nodes": ["n1"], "gpus": 8.0, "message": f"line of {job}", "place": None,
        "changed": datetime(2026, 1, 1, 0, minute, tzinfo=UTC),
    }  # fmt: skip
    return known | fields


def test_the_largest_group_comes_first_and_names_the_node_that_its_jobs_share() -> None:
    rows = [
        row("d", 9, cause="key_error", error_type="user_script"),
        row("c", 8),
        row("b", 7),
        row("a", 6, nodes=["n1", "n2"]),
    ]
    first, second = group_troubles(rows)
    assert (first.cause, first.node, first.count, first.gpus) == ("xid fallen off bus", "n1", 3, 24.0)
    assert [each["job"] for each in first.jobs] == ["c", "b", "a"]
    assert (second.cause, second.node, second.message) == ("key error", "", "line of d")


def test_jobs_on_different_nodes_blame_none_and_unknown_gpus_are_no_zero() -> None:
    [group] = group_troubles([row("b", 2, nodes=["n2"], gpus=None), row("a", 1, gpus=None)])
    assert (group.node, group.gpus) == ("", None)


def test_an_alarm_of_a_job_that_runs_is_a_group_of_its_own() -> None:
    rows = [
        row("b", 2, condition=StateWord.SILENT, cause="", alarms=["hang"]),
        row("a", 1, cause="", reason="exit code 1", error_type=""),
    ]
    assert [(group.cause, group.is_failure) for group in group_troubles(rows)] == [
        ("hang", False),
        ("exit code 1", True),
    ]
