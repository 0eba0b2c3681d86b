"""Nodes, and the shadow report, on the page."""

import csv
import io
import json

from .test_pages import Elements, data, get


def test_a_node_that_a_verdict_names_is_listed_with_what_runs_there(page: str) -> None:
    (row,) = data(page, "/nodes.json")
    assert (row["node"], row["failures"], row["last_cause"]) == ("n1", 1, "xid_fallen_off_bus")
    assert {"steady", "odd"} <= set(row["jobs"])
    assert (row["gpus"], row["utilisation"]) == (1, 80.0)
    assert data(page, "/nodes.json?q=N1")
    assert data(page, "/nodes.json?q=other") == []
    assert list(csv.reader(io.StringIO(get(page, "/nodes.csv")[2])))[1][0] == "n1"


def test_one_node(page: str) -> None:
    known = data(page, "/node.json?id=n1")
    assert [row["job"] for row in known["verdicts"]] != []
    assert known["gpus"][0]["utilisation"] == 80.0
    text = Elements(get(page, "/node?id=n1")[2]).text
    assert "xid fallen off bus" in text
    (finding,) = known["findings"]
    assert (finding["signature"], finding["times"], finding["jobs"]) == ("aer", 3, ["odd", "steady"])
    assert "aer, 5 minutes ago, 3 times, for odd, steady" in " ".join(text.split())


def test_a_node_that_nobody_told_of(page: str) -> None:
    assert get(page, "/node?id=nowhere")[0] == 404
    assert get(page, "/node")[0] == 404


def test_the_shadow_report(page: str) -> None:
    status, _, text = get(page, "/shadow?days=30")
    assert status == 200
    assert "No decision was left in shadow mode." in Elements(text).text
    assert json.loads(get(page, "/shadow.json")[2]) == []
    assert get(page, "/shadow?days=x")[0] == 400
