"""The canned questions over a small cluster's week, each with the answer worked out by hand."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from schedmate_records import (
    Position,
)
from sinks import SinkRejected
from sinks.clickhouse.migrate import migrate
from sinks.clickhouse.queries import QueryResult, ask, queries, run
from sinks.clickhouse.writer import ClickHouseWriter
from tests.sinks.conftest import Embedded
from tests.sinks.made import metric

from .week import HOUR, NOW, WEEK, ago


@pytest.fixture(scope="module")
def week(embedded: Embedded) -> Client:
    rows = [(Position("any", 0, offset), record) for offset, record in enumerate(WEEK)]
    for minute in range(
        60
    ):  # e: twice as slow in its last ten minutes; f: as ever; g: slow, but heard of last a month earlier.
        at = NOW - HOUR + minute * 60
        for job, slow_from, earlier in (("e", 50, 0.0), ("f", 99, 0.0), ("g", 50, 30 * 24 * HOUR)):
            step_time_s = 1.0 if minute >= slow_from else 0.5
            rows.append(metric(minute, job, time=at - earlier, step_time_s=step_time_s, throughput=32 / step_time_s))
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


def test_estimates_are_scored_against_what_came(asked: Ask) -> None:
    rows = asked("estimates", days="2")
    assert pick(rows, "method", "was_done", "jobs", "median_error", "inside_interval") == [
        ("progress", "25% to 50%", 1, 0.1, 1.0),  # 0.3 of the 3 hours that were to come
        ("progress", "50% to 75%", 1, 0.1, None),  # 0.2 of 2 hours; without an upper end there is no interval to be in
        ("similar", "not known", 1, 0.5, 0.0),
    ]
    assert {row["partition"] for row in rows} == {"long"}
    assert asked("estimates", partition="long", days="2") == rows
    assert asked("estimates", user="nobody") == asked("estimates", partition="short") == []


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


def test_past_jobs_with_what_they_trained_and_how_hard(asked: Ask) -> None:
    names = (
        "job",
        "attempt",
        "user",
        "gpus",
        "duration_s",
        "state",
        "exit_code",
        "last_step",
        "step_time_s",
        "gpu_utilisation",
    )
    rows = [row for row in asked("past_jobs", days="1") if row["job"] in "abd"]  # not the straggler nodes' jobs
    assert pick(rows, *names) == [
        ("d", 0, "", 4.0, HOUR / 2, "", None, None, None, None),
        ("a", 1, "", 8.0, 4 * HOUR, "COMPLETED", 0, None, None, None),
        ("b", 0, "bob", 2.0, 3 * HOUR, "FAILED", 1, 2, 0.5, 80.0),
        ("a", 0, "ada", 8.0, 10 * HOUR, "", None, None, None, None),
    ]
    (bert,) = asked("past_jobs", job="b")
    assert pick([bert], "name", "directory", "branch", "command") == [
        ("bert", "/home/bob/bert", "main", "python train.py --lr 1e-4")
    ]
    known = json.loads(bert["workload"])
    assert (known["model_name"], known["batch_size"]) == ("bert-base", 32), "what became known while it ran counts"
    assert {row["user"] for row in asked("past_jobs", days="1", user="ada")} == {"ada"}
    everything = asked("past_jobs", days="1")
    for limit in range(1, 5):
        assert asked("past_jobs", days="1", limit=str(limit)) == everything[:limit], (
            "an attempt of another job's number is none"
        )


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
        ("u", 0, 0, None, "", None),
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
    assert pick([row], "node", "slowed_jobs", "slowed_users", "jobs_there", "alarms", "worst_lag") == [
        ("n8", 3, 2, 4, 3, 1.8)
    ]
    assert (row["some_ranks"], row["some_jobs"]) == ([0, 1, 2], ["s1", "s2", "s3"])


def test_nodes_that_slow_jobs_of_one_user_alone_may_do_what_that_user_wants(asked: Ask) -> None:
    columns = ("node", "slowed_jobs", "slowed_users", "jobs_there")
    assert pick(asked("straggler_nodes", users="1"), *columns) == [("n9", 4, 1, 4), ("n8", 3, 2, 4)]
    assert pick(asked("straggler_nodes", days="3"), *columns) == [("n9", 5, 2, 5), ("n8", 3, 2, 4)]
    assert asked("straggler_nodes", users="3") == []
    assert pick(asked("straggler_nodes", jobs="4", users="0"), "node") == [("n9",)]


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
    shown = ("slowed_job", "packed_job", "packings", "worst_ratio", "after_step_time_s", "worst_recovered")
    assert pick(asked("slowdowns"), *shown) == [("a", "c", 2, 0.4, 2.0, 0.9)]


def test_every_question_is_described_and_its_parameters_are_all_in_use() -> None:
    assert len(queries()) >= 9
    for query in queries().values():
        assert query.title
        assert query.about.endswith(".")
        for parameter in query.parameters:
            assert f"{{{parameter.name}:{parameter.type}}}" in query.sql
        given = [f"{{{parameter.name}:{parameter.type}}}" for parameter in query.parameters]
        found = [
            f"{{{name}}}" for name in ("incarnation:String", "since:Int64", "until:Int64")
        ]  # from the job that is named
        assert query.sql.count("{") == sum(map(query.sql.count, [*given, *found]))


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
