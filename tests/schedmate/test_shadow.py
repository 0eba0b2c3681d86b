"""What shadow decisions would have done, from a database that the writer filled; every figure worked out by hand."""

import json
import time
from typing import Any

import pytest
from typer.testing import CliRunner

from records import (
    Action,
    Decision,
    DecisionResult,
    Failure,
    Feedback,
    JobEvent,
    Mode,
    Outcome,
    Position,
    Record,
    Slowdown,
)
from schedmate.cli import app
from schedmate.shadow import gather, judge, summarise
from schedmate.shadow.report import Instead
from sinks.clickhouse import ClickHouseWriter
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]

NOW = float(int(time.time()))
HOUR = 3600.0


def at(hours_ago: float) -> float:
    return NOW - hours_ago * HOUR


def event(job: str, kind: str, hours_ago: float, attempt: int = 0, **fields: Any) -> Record:
    made = {"gpus": 8.0, "nodes": ["n1"], "user": "ada", "directory": f"/home/{job[0]}", "command": "train", **fields}
    return JobEvent(
        id=f"{job}/{attempt}/{kind}", job=job, attempt=attempt, kind=kind, time=at(hours_ago), scheduler="slurm", **made
    )


def verdict(job: str, hours_ago: float, attempt: int = 0, cause: str = "xid_79") -> Record:
    fields: dict[str, Any] = {"message": "", "error_type": "infrastructure", "signature": cause}
    return Failure(id=f"f/{job}/{attempt}", job=job, attempt=attempt, time=at(hours_ago), **fields)


def shadow(
    job: str, hours_ago: float, action: Action = Action.RESTART, outcome: Outcome = Outcome.SHADOWED, **fields: Any
) -> list[Record]:
    made = {"cause": "xid_79", "mode": Mode.SHADOW, "policy": "p", "reason": "r", **fields}
    one = Decision(id=f"{action}/{job}", action=action, job=job, time=at(hours_ago), expires=at(hours_ago - 2), **made)
    fields = {"decision_id": one.id, "action": action, "job": job, "time": one.time + 1, "outcome": outcome}
    return [one, DecisionResult(id=f"{one.id}/{outcome}", **fields)]


WEEK: list[Record] = [
    # a: failed; requeued by a person two hours later, and ended well: 8 GPUs * 2 h saved.
    event("a", "started", 20), event("a", "ended", 10, state="FAILED", exit_code=1), verdict("a", 10),
    event("a", "started", 8, 1), event("a", "ended", 5, 1, state="COMPLETED", exit_code=0), *shadow("a", 10),
    # b: started again and failed with the same cause after half an hour: 8 GPUs * 0.5 h wasted.
    event("b", "started", 20), event("b", "ended", 10, state="FAILED", exit_code=1), verdict("b", 10),
    event("b", "started", 9, 1), event("b", "ended", 8.5, 1, state="FAILED", exit_code=1), verdict("b", 8.5, 1), *shadow("b", 10),
    # c: ended well by itself.  d: cancelled.  e: left.  f: still runs.  g: nothing is known.
    event("c", "started", 20), event("c", "ended", 1, state="COMPLETED", exit_code=0), *shadow("c", 10),
    event("d", "started", 20), event("d", "ended", 9, state="CANCELLED by 1000"), *shadow("d", 10),
    event("e", "started", 20), event("e", "ended", 9, state="FAILED", exit_code=1), *shadow("e", 10),
    event("f", "started", 20), *shadow("f", 10), *shadow("g", 10),
    # h: submitted again under another id by the same user; GPUs of h are not known.
    event("h", "submitted", 21, gpus=None), event("h", "started", 20, gpus=None), event("h", "ended", 10, state="FAILED", exit_code=1),
    event("h2", "submitted", 9), event("h2", "started", 9), event("h2", "ended", 2, state="COMPLETED", exit_code=0), *shadow("h", 10),
    # i: a person says that it was something else.
    event("i", "started", 20), event("i", "ended", 10, state="FAILED", exit_code=1), *shadow("i", 10),
    Feedback(id="fb", job="i", time=at(3), user="ada", cause="pump_lost", line="coolant pump 7 lost"),
    # p packed beside v: they went on for 4 hours, v at half its speed: 8 * 4 * 0.5 saved; p had run for 1 h on 2 GPUs: wasted.
    event("v", "started", 20), event("v", "ended", 6, state="COMPLETED", exit_code=0),
    event("p", "started", 11, gpus=2.0), event("p", "ended", 3, state="COMPLETED", exit_code=0),
    Slowdown(id="s", job="v", packed_job="p", node="n1", time=at(10), before_s=1.0, after_s=2.0, ratio=0.5, threshold=0.65, steps_after=40),
    *shadow("p", 10, Action.CANCEL_PACKING, cause="v", cause_id="s", beneficiary="v"),
    # Carried out, or long ago: none of them counts.
    *shadow("done", 10, outcome=Outcome.DONE), *shadow("old", 400),
]  # fmt: skip


@pytest.fixture(scope="module")
def filled(embedded: Embedded) -> Embedded:
    writer = ClickHouseWriter(embedded.connect)
    writer.write([(Position("t", 0, number), record) for number, record in enumerate(WEEK)])
    writer.close()
    return embedded


def test_each_decision_is_held_against_what_happened(filled: Embedded) -> None:
    judged = {one.shadow.job: one for one in judge(gather(filled.client, 7))}
    assert {job: one.instead for job, one in judged.items()} == {
        "a": Instead.RERUN_ENDED_WELL,
        "b": Instead.SAME_CAUSE,
        "c": Instead.ENDED_WELL,
        "d": Instead.CANCELLED,
        "e": Instead.LEFT,
        "f": Instead.RUNNING,
        "g": Instead.UNKNOWN,
        "h": Instead.RERUN_ENDED_WELL,
        "i": Instead.LEFT,
        "p": Instead.SHARED_ON,
    }
    hours = {job: (one.hours_saved, one.hours_wasted) for job, one in judged.items()}
    assert hours["a"] == (pytest.approx(16), None)
    assert hours["b"] == (None, pytest.approx(4))
    assert hours["c"] == hours["d"] == (0, 0)
    assert hours["e"] == hours["f"] == hours["g"] == hours["h"] == (None, None)
    assert hours["p"] == (pytest.approx(16), pytest.approx(2))
    assert judged["i"].corrected == "pump_lost"


def test_the_sums(filled: Embedded) -> None:
    restarts, packings = summarise(judge(gather(filled.client, 7)))
    assert (restarts.action, restarts.cause, restarts.decisions) == ("restart", "xid_79", 9)
    assert (restarts.right, restarts.wrong, restarts.unknown, restarts.corrected) == (2, 4, 3, 1)
    assert (restarts.hours_saved, restarts.hours_wasted) == (pytest.approx(16), pytest.approx(4))
    assert restarts.hours_unknown == 2, "h and i"
    assert (packings.cause, packings.right, packings.hours_saved) == ("", 1, pytest.approx(16))


def test_the_command(filled: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_CLICKHOUSE__URL", filled.url)
    shown = CliRunner().invoke(app, ["shadow-report"])
    assert shown.exit_code == 0, shown.output
    assert "16.0 + 2" in shown.output
    assert "1 failed with" not in shown.output
    lines = [json.loads(line) for line in CliRunner().invoke(app, ["shadow-report", "--json"]).output.splitlines()]
    assert {line["job"] for line in lines} == set("abcdefghip")
    nothing = CliRunner().invoke(app, ["shadow-report", "--days", "1", "--json"])
    assert len(nothing.output.splitlines()) == len(lines)
