"""What shadow decisions would have done, from a database that the writer filled; every figure worked out by hand."""

import json
import time
from typing import Any

import pytest
from typer.testing import CliRunner

from schedmate.cli import app
from schedmate.shadow.facts import gather
from schedmate.shadow.report import Instead, judge, summarise
from schedmate_records import (
    Action,
    Checkpoint,
    CheckpointState,
    Decision,
    DecisionResult,
    Failure,
    Feedback,
    JobEvent,
    JobMetric,
    Mode,
    Outcome,
    Position,
    Record,
    Slowdown,
)
from sinks.clickhouse.writer import ClickHouseWriter
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


def verdict(job: str, hours_ago: float, attempt: int = 0, cause: str = "xid_79", node: str = "") -> Record:
    fields: dict[str, Any] = {"message": "", "error_type": "infrastructure", "signature": cause, "node": node}
    return Failure(id=f"f/{job}/{attempt}", job=job, attempt=attempt, time=at(hours_ago), **fields)


def shadow(
    job: str, hours_ago: float, action: Action = Action.RESTART, outcome: Outcome = Outcome.SHADOWED, **fields: Any
) -> list[Record]:
    made = {"cause": "xid_79", "mode": Mode.SHADOW, "policy": "p", "reason": "r", **fields}
    one = Decision(
        id=f"{action}/{job}/{made.get('node', '')}",
        action=action,
        job=job,
        time=at(hours_ago),
        expires=at(hours_ago - 2),
        **made,
    )
    fields = {"decision_id": one.id, "action": action, "job": job, "time": one.time + 1, "outcome": outcome}
    return [one, DecisionResult(id=f"{one.id}/{outcome}", **fields)]


def evict(job: str, beneficiary: str) -> list[Record]:
    return shadow(job, 10, Action.EVICT, cause=beneficiary, cause_id=f"{beneficiary}/0", beneficiary=beneficiary)


def metric(job: str, hours_ago: float, step: int) -> JobMetric:
    return JobMetric(id=f"m/{job}/{hours_ago}", job=job, time=at(hours_ago), step=step)


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
    # n7: a job failed of it again, 8 GPUs for an hour; another ran well. n8: two ran well there, one of them on two nodes:
    # 8 * 2 + 16 / 2 * 1 wasted. n9: nothing began there. n6: what began there runs, or failed of itself.
    *shadow("d7", 10, Action.DRAIN, node="n7"), *shadow("d8", 10, Action.DRAIN, node="n8"),
    *shadow("d9", 10, Action.DRAIN, node="n9"), *shadow("d6", 10, Action.DRAIN, node="n6"),
    event("t1", "started", 12, nodes=["n7"]), event("t1", "ended", 10, state="FAILED", exit_code=1), verdict("t1", 10, node="n7"),
    event("t2", "started", 9, nodes=["n7"]), event("t2", "ended", 8, state="FAILED", exit_code=1), verdict("t2", 8, node="n7"),
    event("t3", "started", 7, nodes=["n7"]), event("t3", "ended", 6, state="COMPLETED", exit_code=0),
    event("t4", "started", 9, nodes=["n8"]), event("t4", "ended", 7, state="COMPLETED", exit_code=0),
    event("t5", "started", 9, nodes=["n8", "n5"], gpus=16.0), event("t5", "ended", 8, state="COMPLETED", exit_code=0),
    event("t6", "started", 9, nodes=["n6"]), event("t7", "started", 9, nodes=["n6"]),
    event("t7", "ended", 8, state="FAILED", exit_code=1), verdict("t7", 8, node="n5"),
    # Evictions: w1 waited for 2 h more, and e1 had saved half an hour before: 8 * 0.5 lost. w2 had a place after a minute. w3 waits.
    # w4 was cancelled while it waited.
    *(each for job in ("e1", "e2", "e3", "e4") for each in (
        event(job, "started", 20), event(f"w{job[1]}", "submitted", 11), *evict(job, f"w{job[1]}"))),
    Checkpoint(id="c", job="e1", number=1, state=CheckpointState.DURABLE, time=at(10.4), since=at(10.5)),
    event("w1", "started", 8), event("w2", "started", 10 - 1 / 60), event("w4", "ended", 9, state="CANCELLED"),
    # Hung: u1 until a person cancelled it, 8 * 1 saved; u2 made steps again; u3 hangs still; of u4 nothing is known.
    *(each for job in ("u1", "u2", "u3", "u4") for each in shadow(job, 10, Action.CANCEL, cause="hang, GPUs idle")),
    *(event(job, "started", 20) for job in ("u1", "u2", "u3")), event("u1", "ended", 9, state="CANCELLED by 1000"),
    *(metric(job, hours_ago, step) for job, hours_ago, step in (
        ("u1", 11, 500), ("u1", 9.5, 500), ("u2", 11, 500), ("u2", 9.5, 510), ("u3", 11, 500))),
    *shadow("q", 10, Action.HOLD, cause="quota"),
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
    judged = {one.shadow.job: one for one in judge(gather(filled.client, at(7 * 24)))}
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
        "d7": Instead.FAILED_THERE,
        "d8": Instead.RAN_WELL_THERE,
        "d9": Instead.UNUSED,
        "d6": Instead.UNKNOWN,
        "e1": Instead.WAITED,
        "e2": Instead.PLACE_CAME,
        "e3": Instead.WAITED,
        "e4": Instead.UNKNOWN,
        "u1": Instead.HUNG_ON,
        "u2": Instead.WENT_ON,
        "u3": Instead.RUNNING,
        "u4": Instead.UNKNOWN,
        "q": Instead.UNKNOWN,
    }
    hours = {job: (one.hours_saved, one.hours_wasted) for job, one in judged.items()}
    assert hours["a"] == (pytest.approx(16), None)
    assert hours["b"] == (None, pytest.approx(4))
    assert hours["c"] == hours["d"] == (0, 0)
    assert hours["e"] == hours["f"] == hours["g"] == hours["h"] == (None, None)
    assert hours["p"] == (pytest.approx(16), pytest.approx(2))
    assert (hours["d7"], hours["d8"], hours["d9"]) == (
        (pytest.approx(8), None),
        (None, pytest.approx(24)),
        (None, None),
    )
    assert (hours["e1"], hours["e2"]) == ((None, pytest.approx(4)), (None, pytest.approx(80)))
    assert (hours["u1"], hours["u2"], hours["u3"]) == (
        (pytest.approx(8), None),
        (None, pytest.approx(80)),
        (None, None),
    )
    assert judged["i"].corrected == "pump_lost"


def test_the_sums(filled: Embedded) -> None:
    rows = {row.action: row for row in summarise(judge(gather(filled.client, at(7 * 24))))}
    restarts, packings = rows["restart"], rows["cancel_packing"]
    assert (restarts.action, restarts.cause, restarts.decisions) == ("restart", "xid_79", 9)
    assert (restarts.right, restarts.wrong, restarts.unknown, restarts.corrected) == (2, 4, 3, 1)
    assert (restarts.hours_saved, restarts.hours_wasted) == (pytest.approx(16), pytest.approx(4))
    assert restarts.hours_unknown == 2, "h and i"
    assert (packings.cause, packings.right, packings.hours_saved) == ("", 1, pytest.approx(16))
    judged = {action: (row.right, row.wrong, row.unknown) for action, row in rows.items()}
    assert judged == {
        "restart": (2, 4, 3),
        "cancel_packing": (1, 0, 0),
        "drain": (1, 1, 2),
        "evict": (2, 1, 1),
        "cancel": (1, 1, 2),
        "hold": (0, 0, 1),
    }


def test_the_command(filled: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv("SCHEDMATE_CLICKHOUSE__URL", filled.url)
    shown = CliRunner().invoke(app, ["shadow-report"])
    assert shown.exit_code == 0, shown.output
    assert "16.0 + 2" in shown.output
    assert "1 failed with" not in shown.output
    lines = [json.loads(line) for line in CliRunner().invoke(app, ["shadow-report", "--json"]).output.splitlines()]
    assert {line["job"] for line in lines if line["action"] in ("restart", "cancel_packing")} == set("abcdefghip")
    assert {line["node"] for line in lines if line["action"] == "drain"} == {"n6", "n7", "n8", "n9"}
    nothing = CliRunner().invoke(app, ["shadow-report", "--since", "9h"])
    assert "no decision was left in shadow mode (--since 9h)" in nothing.output
    older = CliRunner().invoke(app, ["shadow-report", "--since", "30d", "--json"])
    assert {json.loads(line)["job"] for line in older.output.splitlines()} == {*(line["job"] for line in lines), "old"}
