"""The canned questions over a small cluster's week, each with the answer worked out by hand."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from clickhouse_connect.driver.client import Client

from records import (
    Action,
    Alarm,
    Checkpoint,
    DeadLetter,
    Decision,
    DecisionResult,
    Failure,
    GpuActivity,
    JobEvent,
    ModelAnswer,
    NodeFinding,
    Outcome,
    Position,
    Record,
    Review,
    Slowdown,
)
from sinks import SinkRejected
from sinks.clickhouse import ClickHouseWriter, QueryResult, ask, migrate, queries, run
from tests.sinks.conftest import Embedded
from tests.sinks.made import line, metric

NOW = float(int(time.time()) // 60 * 60)
HOUR = 3600.0


def event(job: str, kind: str, hours_ago: float, *, attempt: int = 0, **fields: Any) -> Record:
    return JobEvent(
        id=f"{job}/{attempt}/{kind}", job=job, attempt=attempt, kind=kind, time=NOW - hours_ago * HOUR, **fields
    )


def piped(job: str, kind: str, hours_ago: float, **fields: Any) -> Record:
    return msgspec.structs.replace(event(job, kind, hours_ago, scheduler="pipe", **fields), id=f"pipe/{job}/{kind}")


def failed(job: str, kind: str, hours_ago: float, *, attempt: int = 0, revision: int = 1, **fields: Any) -> Record:
    made = {"message": f"{job} broke", "root": line(5, text="Xid 79"), **fields}
    return Failure(
        id=f"f/{job}/{attempt}/{revision}",
        job=job,
        attempt=attempt,
        revision=revision,
        time=NOW - hours_ago * HOUR,
        error_type=kind,
        **made,
    )


def decision(job: str, hours_ago: float, **fields: Any) -> Record:
    at = NOW - hours_ago * HOUR
    return Decision(
        id=f"restart/{job}",
        action=Action.RESTART,
        job=job,
        time=at,
        expires=at + 60,
        policy="infra",
        reason="Xid 79 on n1",
        **fields,
    )


def result(job: str, outcome: Outcome, hours_ago: float) -> Record:
    return DecisionResult(
        id=f"restart/{job}/{outcome}", decision_id=f"restart/{job}", action=Action.RESTART, job=job, time=NOW - hours_ago * HOUR,
        outcome=outcome, detail=f"it is {outcome}", actuator="slurm",
    )  # fmt: skip


def saved(job: str, number: int, state: str, seconds_ago: float) -> Record:
    durable = {"durable_by": "completion", "duration_s": 2.0} if state == "durable" else {}
    return Checkpoint(
        id=f"c{job}{number}{state}", job=job, number=number, state=state, time=NOW - seconds_ago + 2, since=NOW - seconds_ago,
        step=number * 100, path=f"/run/{number * 100}", **durable,
    )  # fmt: skip


def ago(hours: float) -> datetime:
    return datetime.fromtimestamp(NOW - hours * HOUR, UTC)


WEEK: list[Record] = [
    # a: 8 GPUs for 10 hours until its node failed; then it ran again for 4 hours and ended well.
    event("a", "started", 20, nodes=["n1", "n2"], gpus=8.0, user="ada"),
    event("a", "requeued", 10),
    event("a", "started", 9, attempt=1, nodes=["n2"], gpus=8.0),
    event("a", "ended", 5, attempt=1, exit_code=0, state="COMPLETED"),
    failed("a", "infrastructure", 10, faulty_component="gpu", signature="xid-79", node="n1"),
    # b: 2 GPUs for 3 hours; a first guess was replaced by a second, better one.
    event("b", "started", 8, nodes=["n3"], gpus=2.0),
    event("b", "ended", 5, exit_code=1, state="FAILED"),
    failed("b", "infrastructure", 5, faulty_component="network", signature="nccl-timeout", node="n3"),
    failed("b", "user_script", 5, revision=2, signature="ValueError", node="n3"),
    # c: a verdict that was retracted; still running.
    event("c", "started", 2, nodes=["n1"], gpus=1.0),
    failed("c", "infrastructure", 1, faulty_component="gpu", signature="xid-31", node="n1"),
    failed("c", "none", 1, revision=2),
    # d: its end was never reported, but it was started again half an hour later; n1 once more.
    event("d", "started", 4, nodes=["n1"], gpus=4.0),
    event("d", "started", 3.5, attempt=1, nodes=["n2"], gpus=4.0),
    failed("d", "infrastructure", 3.6, faulty_component="gpu", signature="xid-79", node="n1"),
    # h, i: a pipe told of a command too, in h inside what Slurm tells of; in i nobody else does.
    event("h", "started", 2000, nodes=["n1", "n2"], gpus=8.0, scheduler="slurm"),
    event("h", "ended", 1990, signal=9, state="OUT_OF_MEMORY", scheduler="slurm"),
    piped("h", "started", 1999, nodes=["n1"]),
    piped("h", "ended", 1989, exit_code=137, signal=0),
    piped("i", "started", 1999, nodes=["n1"], user="ada"),
    piped("i", "ended", 1998, exit_code=3, signal=0),
    decision("a", 10),
    result("a", Outcome.STARTED, 9.9995),
    result("a", Outcome.DONE, 9.999),
    decision("d", 3.6),
    Slowdown(id="s1", job="a", packed_job="c", node="", time=NOW - 90, before_s=1.0, after_s=2.5, ratio=0.4, threshold=0.65, steps_after=9),
    Slowdown(id="s2", job="a", packed_job="c", node="", time=NOW - 60, before_s=1.0, after_s=2.0, ratio=0.5, threshold=0.65, steps_after=9),
    *(NodeFinding(id=f"{name}/{job}", job=job, node="n1", time=NOW - hours * HOUR, signature=name, severity=severity, times=times,
        error_type="infrastructure", component="gpu", device="0000:3b:00", place=line(9, 8, name))
        for name, hours, job, severity, times in [("xid-79", 10.01, "a", "fatal", 1), ("xid-79", 10.01, "q", "fatal", 10),
            ("aer", 30, "", "warning", 1), ("gpus_healthy", 5, "a", "info", 1)]),
    NodeFinding(id="elsewhere", node="n7", time=NOW - HOUR, signature="oom_killer", severity="fatal",
        error_type="infrastructure", component="node", place=line(1, 1, "oom")),
    Alarm(id="al1", job="a", kind="hang", raised=True, time=NOW - 500, since=NOW - 900, value=400.0, usual=2.0,
        detail="no report for 400 s"),
    Alarm(id="al2", job="a", kind="hang", raised=False, time=NOW - 100, since=NOW - 900, detail="reports come again"),
    Alarm(id="al3", job="c", kind="straggler", raised=True, time=NOW - 2000, since=NOW - 2100, rank=5, detail="rank 5 takes 0.8 s a step"),
    # n1 slows c and d; n2 slows d alone.
    *(Alarm(id=f"al{job}{rank}", job=job, kind="straggler", raised=True, time=NOW - 3000, since=NOW - 3000 - rank, rank=rank, value=0.8,
        usual=0.5, detail=f"rank {rank} takes 0.8 s a step") for job, rank in [("s", 1), ("t", 2), ("t", 3)]),
    *(metric(offset, job, rank=rank, node=node, time=NOW - 3100)[1]
        for offset, (job, rank, node) in enumerate([("s", 1, "n1"), ("t", 2, "n1"), ("t", 3, "n2"), ("s", 0, "n2")])),
    # a hang that the GPUs confirm later: told twice, over once.
    *(Alarm(id=f"ah{at}", job="w", kind="hang", raised=raised, time=NOW - at, since=NOW - 9000, detail=said, activity=activity)
        for at, raised, said, activity in [(8000, True, "no report", None), (7900, True, "no report; its GPUs wait", "waiting"),
            (7000, False, "reports come again", None)]),
    # what GPUs did: c left its GPU idle for 1.5 hours; x holds two GPUs and had a process on one only.
    event("x", "started", 4, nodes=["n4"], gpus=2.0, user="bob"),
    event("y", "started", 4, nodes=["n5"], gpus=1.0, user="bob"),
    *(GpuActivity(id=f"g{job}{at}", job=job, node=node, time=NOW - at, working_s=working, idle_s=idle, vacant_s=vacant)
        for job, node, at, working, idle, vacant in [("c", "n1", 3600, 600, 1800, 0), ("c", "n1", 60, 1200, 5400, 0),
            ("x", "n4", 0, 14400, 0, 3 * 14400), ("y", "n5", 0, 0, 7200, 0)]),
    *(saved(*each) for each in [("a", 1, "started", 500), ("a", 1, "durable", 500), ("a", 2, "started", 300), ("a", 2, "durable", 300),
        ("a", 3, "started", 100), ("c", 1, "started", 900), ("c", 1, "failed", 900), ("c", 2, "durable", 800)]),
    *(ModelAnswer(id=f"m{i}", job=job, about=f"f/{job}/0/{revision}", revision=revision, time=NOW - 60 * i, model="m", prompt="1",
        review=Review(error_type=said, root=7, certainty="high"))
        for i, (job, revision, said) in enumerate([("a", 1, "user_script"), ("b", 2, "user_script"), ("b", 1, "other"),
            ("c", 1, "unknown"), ("d", 2, "framework")])),
    ModelAnswer(id="mt", job="a", about="f/a/0/1", revision=1, time=NOW, model="m", prompt="1"),
    *(DeadLetter(id=f"x{i}", topic="job-logs", partition=1, offset=i, time=NOW + i, reason="not JSON", value=b"{..") for i in range(3)),
    DeadLetter(id="y", topic="job-events", partition=0, offset=9, time=NOW, reason="no field kind", stage="process"),
]  # fmt: skip


@pytest.fixture(scope="module")
def week(embedded: Embedded) -> Client:
    rows = [(Position("any", 0, offset), record) for offset, record in enumerate(WEEK)]
    for minute in range(
        60
    ):  # e: twice as slow in its last ten minutes; f: as ever; g: slow, but heard of last a month ago.
        at = NOW - HOUR + minute * 60
        for job, slow_from, ago in (("e", 50, 0.0), ("f", 99, 0.0), ("g", 50, 30 * 24 * HOUR)):
            step_time_s = 1.0 if minute >= slow_from else 0.5
            rows.append(metric(minute, job, time=at - ago, step_time_s=step_time_s, throughput=32 / step_time_s))
    ClickHouseWriter(embedded.connect).write(rows)
    return embedded.client


Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def asked(week: Client) -> Ask:
    def ask_by_name(name: str, **given: str) -> list[dict[str, Any]]:
        answer = run(week, name, given)
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]

    return ask_by_name


def pick(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def test_of_an_attempt_the_scheduler_is_believed_and_else_the_pipe(week: Client) -> None:
    told = "SELECT job, started, ended, nodes, user, state, exit_code, signal FROM attempts WHERE job IN ('h', 'i') ORDER BY job"
    assert list(week.query(told).result_rows) == [
        ("h", ago(2000), ago(1990), ["n1", "n2"], "", "OUT_OF_MEMORY", None, 9),
        ("i", ago(1999), ago(1998), ["n1"], "ada", "", 3, 0),
    ]


def test_throughput_of_a_job_newest_first(asked: Ask) -> None:
    rows = asked("throughput", job="e", hours="1")
    assert len(rows) == 60
    assert pick(rows[:1], "minute", "rank", "throughput", "unit", "step_time_s", "last_step", "reports") == [
        (datetime.fromtimestamp(NOW - 60, UTC), 0, 32.0, "samples/s", 1.0, 59, 1)
    ]
    assert rows[-1]["throughput"] == 64.0
    assert len(asked("throughput", job="e", hours="1", limit="7")) == 7


def test_jobs_slower_than_their_own_past(asked: Ask) -> None:
    rows = asked("slower")
    assert pick(rows, "job", "past_step_time_s", "now_step_time_s", "speed_ratio", "past_minutes") == [
        ("e", 0.5, 1.0, 0.5, 50)
    ]
    assert asked("slower", ratio="0.4") == []


def test_failures_by_cause_node_and_week_count_the_verdict_in_force(asked: Ask) -> None:
    found: dict[tuple[Any, ...], int] = {}
    for row in asked("failures"):  # A week may begin between two of them.
        key = (row["error_type"], row["faulty_component"], row["signature"], row["node"])
        found[key] = found.get(key, 0) + row["failures"]
    assert found == {("infrastructure", "gpu", "xid-79", "n1"): 2, ("user_script", "none", "ValueError", "n3"): 1}


def test_gpu_hours_lost(asked: Ask) -> None:
    rows = asked("gpu_hours_lost")
    assert pick(rows, "error_type", "signature", "gpu_hours", "attempts") == [
        ("infrastructure", "xid-79", 8 * 10 + 4 * 0.5, 2),
        ("user_script", "ValueError", 2 * 3.0, 1),
    ]


def test_nodes_by_time_between_failures(asked: Ask) -> None:
    (row,) = asked("nodes")
    # a's 10 hours, d's half hour, and c since 2 hours before NOW, which is when this file was loaded.
    hours = 12.5 + (time.time() - NOW) / HOUR
    assert (row["node"], row["failures"], row["last_signature"]) == ("n1", 2, "xid-79")
    assert row["job_hours"] == pytest.approx(hours, abs=0.02)
    assert row["hours_between_failures"] == pytest.approx(hours / 2, abs=0.02)


def test_what_the_bridge_did(asked: Ask) -> None:
    rows = asked("bridge")
    assert pick(rows, "job", "action", "mode", "outcome", "detail", "actuator", "seconds") == [
        ("d", "restart", "shadow", "waiting", "", "", None),
        ("a", "restart", "shadow", "done", "it is done", "slurm", pytest.approx(3.6)),
    ]
    assert pick(asked("bridge", job="a"), "job") == [("a",)]


def test_the_latest_verdict_of_every_job(asked: Ask) -> None:
    rows = asked("verdicts")
    assert pick(rows, "job", "revision", "error_type", "root_line", "root_text") == [
        ("d", 1, "infrastructure", 5, "Xid 79"),
        ("b", 2, "user_script", 5, "Xid 79"),
        ("a", 1, "infrastructure", 5, "Xid 79"),
    ]
    assert pick(asked("verdicts", job="b"), "job") == [("b",)]


def test_dead_letters_by_reason(asked: Ask) -> None:
    assert pick(asked("dead_letters"), "topic", "stage", "reason", "messages", "bytes", "newest_place") == [
        ("job-logs", "decode", "not JSON", 3, 9, (1, 2)),
        ("job-events", "process", "no field kind", 1, 0, (0, 9)),
    ]


def test_checkpoints_by_job(asked: Ask) -> None:
    assert pick(asked("checkpoints"), "job", "durable", "failed", "last_step", "last_path", "typical_duration_s") == [
        ("c", 1, 1, 200, "/run/200", 2.0),
        ("a", 2, 0, 200, "/run/200", 2.0),
    ]
    assert pick(asked("checkpoints", job="a"), "job") == [("a",)]


def test_alarms_that_stand_come_first(asked: Ask) -> None:
    rows = [row for row in asked("alarms") if row["job"] in {"a", "c"}]
    assert pick(rows, "job", "kind", "rank", "detail") == [
        ("c", "straggler", 5, "rank 5 takes 0.8 s a step"),
        ("a", "hang", None, "no report for 400 s"),
    ]
    assert rows[0]["over"] is None
    assert (rows[1]["over"] - rows[1]["since"]).total_seconds() == pytest.approx(800)
    assert pick(asked("alarms", job="a"), "job") == [("a",)]


def test_an_alarm_that_is_known_better_later_is_one(asked: Ask) -> None:
    (row,) = asked("alarms", job="w")
    assert (row["gpus"], row["detail"]) == ("waiting", "no report; its GPUs wait")
    assert (row["over"] - row["since"]).total_seconds() == pytest.approx(2000)


def test_nodes_that_slow_several_jobs(asked: Ask) -> None:
    (row,) = asked("straggler_nodes")
    assert (row["node"], row["slowed_jobs"], row["worst_lag"], row["some_jobs"]) == ("n1", 2, 1.6, ["s", "t"])
    assert pick(asked("straggler_nodes", jobs="1"), "node") == [("n1",), ("n2",)]


def test_gpu_hours_held_idle_by_user_and_job(asked: Ask) -> None:
    columns = ("user", "job", "idle_gpu_hours", "working_gpu_hours", "idle_gpu_hours_of_user")
    assert pick(asked("idle_gpus"), *columns) == [
        ("bob", "x", 4.0, 4.0, 6.0),
        ("bob", "y", 2.0, 0.0, 6.0),
        ("", "c", 1.5, pytest.approx(0.33), 1.5),
    ]
    assert pick(asked("idle_gpus", user="bob", limit="1"), "job") == [("x",)]


def test_disagreements_of_a_language_model(asked: Ask) -> None:
    """Agreement, an answer that names no cause, one about a template, and one about a verdict that is not there are none."""
    columns = ("job", "verdict", "signature", "said", "said_line", "certainty", "model")
    assert pick(asked("disagreements"), *columns) == [
        ("a", "infrastructure", "xid-79", "user_script", 7, "high", "m"),
        ("b", "infrastructure", "nccl-timeout", "other", 7, "high", "m"),
    ]
    assert pick(asked("disagreements", job="b"), "job") == [("b",)]


def test_slowdowns_by_pair(asked: Ask) -> None:
    assert pick(asked("slowdowns"), "slowed_job", "packed_job", "packings", "worst_ratio", "after_step_time_s") == [
        ("a", "c", 2, 0.4, 2.0)
    ]


def test_every_question_is_described_and_its_parameters_are_all_in_use() -> None:
    assert len(queries()) >= 9
    for query in queries().values():
        assert query.title
        assert query.about.endswith(".")
        for parameter in query.parameters:
            assert f"{{{parameter.name}:{parameter.type}}}" in query.sql
        assert query.sql.count("{") == sum(
            query.sql.count(f"{{{parameter.name}:{parameter.type}}}") for parameter in query.parameters
        )


def test_every_question_answers_on_an_empty_database(fresh_database: Callable[[str], Client]) -> None:
    client = fresh_database("nothing")
    migrate(client)
    for name in queries():
        answer = run(client, name, {"job": "x"} if name == "throughput" else {})
        assert isinstance(answer, QueryResult)
        assert list(answer.rows) == []


def test_a_value_never_becomes_sql(asked: Ask) -> None:
    assert asked("bridge", job="' OR 1=1 --") == []
    assert asked("throughput", job="{limit:UInt32}'); DROP TABLE job_metrics") == []


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("troughput", {}, "did you mean throughput"),
        ("throughput", {}, "needs job"),
        ("throughput", {"job": "x", "day": "1"}, "takes job, hours, limit; got day"),
        ("throughput", {"job": "x", "hours": "many"}, "hours"),
    ],
)
def test_wrong_questions_say_what_is_right(week: Client, name: str, given: dict[str, str], says: str) -> None:
    with pytest.raises(SinkRejected, match=says):
        run(week, name, given)


def test_sql_of_ones_own(week: Client) -> None:
    answer = ask(week, "SELECT job, count() AS n FROM failures WHERE job = {job:String} GROUP BY job", {"job": "b"})
    assert (list(answer.columns), [tuple(row) for row in answer.rows]) == (["job", "n"], [("b", 2)])
    with pytest.raises(SinkRejected):
        ask(week, "SELEC 1")


def test_nodes_behind_several_failures(asked: Ask) -> None:
    assert pick(asked("shared_nodes"), "node", "failed_jobs", "failures", "infrastructure", "causes", "some_jobs") == [
        ("n1", 2, 2, 2, ["xid-79"], ["a", "d"])
    ]
    (row,) = asked("shared_nodes")
    assert (row["fatal_findings"], row["node_says"]) == (1, ["aer", "xid-79"])
    assert row["last_finding"] == datetime.fromtimestamp(NOW - 10.01 * HOUR, UTC)
    assert asked("shared_nodes", jobs="3") == []


def test_what_nodes_said_once_for_all_jobs_that_were_told(asked: Ask) -> None:
    columns = "node", "signature", "severity", "times", "told", "text"
    assert pick(asked("node_findings"), *columns) == [
        ("n7", "oom_killer", "fatal", 1, [], "oom"),
        ("n1", "xid-79", "fatal", 10, ["a", "q"], "xid-79"),
        ("n1", "aer", "warning", 1, [], "aer"),
    ]
    assert pick(asked("node_findings", node="n7"), "node") == [("n7",)]


def test_top_causes_with_their_share_and_cost(asked: Ask) -> None:
    rows = asked("top_causes")
    assert pick(rows, "signature", "failures", "share", "jobs", "nodes", "gpu_hours") == [
        ("xid-79", 2, 0.667, 2, 1, 82.0),
        ("ValueError", 1, 0.333, 1, 1, 6.0),
    ]


def test_verdicts_that_were_revised_or_taken_back(asked: Ask) -> None:
    rows = asked("revised")
    assert sorted(pick(rows, "job", "revisions", "first_signature", "last_error_type", "last_signature")) == [
        ("b", 2, "nccl-timeout", "user_script", "ValueError"),
        ("c", 2, "xid-31", "none", ""),
    ]
    assert pick(asked("revised", job="b"), "job") == [("b",)]


def test_all_that_was_said_of_a_job(asked: Ask) -> None:
    assert pick(asked("history", job="b"), "attempt", "revision", "signature", "root_text") == [
        (0, 1, "nccl-timeout", "Xid 79"),
        (0, 2, "ValueError", "Xid 79"),
    ]
