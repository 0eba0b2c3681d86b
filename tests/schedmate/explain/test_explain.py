"""The page on a job, from a database that the writer filled."""

import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from processors.diagnose import load
from schedmate.explain.facts import gather
from schedmate.explain.page import markdown, plain, sections
from schedmate_records import (
    Action,
    Checkpoint,
    Decision,
    DecisionResult,
    Evidence,
    Failure,
    FailureAnswer,
    JobEvent,
    JobMetric,
    Mode,
    ModelAnswer,
    NodeFinding,
    Outcome,
    Position,
    Record,
    Slowdown,
)
from sinks.clickhouse.writer import ClickHouseWriter
from tests.schedmate.forked import run_forked
from tests.sinks.conftest import Embedded, embedded, migrated_database

__all__ = ["embedded"]

NOW = float(int(time.time()))
SIGNATURES = {one.name: one for one in load()}
XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242 \x1b[2J `rm` <b>|*x*"


def quoted(text: str, line: int, topic: str = "job-logs") -> Evidence:
    return Evidence(topic=topic, partition=1, offset=9, line=line, text=text, rank=3 if topic == "job-logs" else None)


def failed(job: str, revision: int, **fields: Any) -> Failure:
    known: dict[str, Any] = {
        "error_type": "infrastructure", "faulty_component": "gpu", "signature": "xid_fallen_off_bus", "source": "signature",
        "message": "the GPU is gone", "node": "n1", "rank": 3, "confidence": 0.9, "restartable": True, "root": quoted(XID, 77),
        "evidence": [quoted(XID, 77)],
    }  # fmt: skip
    return Failure(id=f"{job}/{revision}", job=job, revision=revision, time=NOW - 100 + revision, **(known | fields))


def event(job: str, kind: str, ago: float, **fields: Any) -> JobEvent:
    return JobEvent(id=f"{job}/{kind}", job=job, kind=kind, time=NOW - ago, **fields)


def found(job: str, signature: str, **fields: Any) -> NodeFinding:
    known: dict[str, Any] = {
        "node": "n1", "time": NOW - 130, "signature": signature, "severity": "fatal", "error_type": "infrastructure", "component": "gpu",
        "place": quoted(f"{signature} on the node \x1b[2J", 5, "node-logs"),
    }  # fmt: skip
    return NodeFinding(id=f"{job}/{signature}/{fields.get('times', 1)}", job=job, **(known | fields))


def saved(job: str, number: int, state: str, ago: float, **fields: Any) -> Checkpoint:
    by = "completion" if state == "durable" else None
    began = NOW - ago
    return Checkpoint(
        id=f"{job}/{number}/{state}",
        job=job,
        number=number,
        state=state,
        durable_by=by,
        time=began + 5,
        since=began,
        step=number * 1000,
        **fields,
    )


RECORDS: list[Record] = [
    saved("17", 3, "durable", 900, path="/run/\x1b[2J`3000`"), saved("17", 4, "started", 130, path="/run/4000"),
    saved("17", 5, "failed", 125),
    saved("21", 1, "durable", 800, path="/run/1000"), saved("21", 2, "started", 20, path="/run/2000", attempt=1),
    found("17", "xid_fallen_off_bus", device="0000:3b:00"), found("17", "xid_fallen_off_bus", device="0000:3b:00", times=10),
    found("17", "ib_link_down", component="network"), found("17", "aer", component="node", severity="warning"),
    found("18", "gpus_healthy", component="none", severity="info"),
    event("17", "started", 3600, nodes=["n1", "n2"], gpus=16.0, user="ada"),
    JobMetric(id="m", job="17", time=NOW - 120, step=4200, step_time_s=0.31, loss=2.5),
    failed("17", 1, signature="nccl_watchdog_timeout", faulty_component="network", message="a time-out", confidence=0.6),
    failed("17", 2),
    failed(
        "17", 3, source="signature", confirmed_by=["node-logs"], confidence=0.99, final=True, exit_code=1,
        evidence=[quoted(XID, 77), quoted("NVRM: Xid 79", 5, "node-logs")],
    ),
    event("17", "ended", 60, state="FAILED", exit_code=1),
    Decision(id="d", action=Action.RESTART, job="17", time=NOW - 50, expires=NOW, mode=Mode.ACT, policy="infra", reason="a lost GPU"),
    DecisionResult(id="d/done", decision_id="d", action=Action.RESTART, job="17", time=NOW - 40, outcome=Outcome.DONE, detail="runs on n7"),
    Decision(id="e", action=Action.RESTART, job="18", time=NOW - 50, expires=NOW, mode=Mode.SHADOW, policy="infra", reason="a lost disk"),
    DecisionResult(id="e/shadowed", decision_id="e", action=Action.RESTART, job="18", time=NOW - 49, outcome=Outcome.SHADOWED,
                   detail="mode: restarts are in shadow mode"),
    *(
        ModelAnswer(id=f"a{number}", job=job, about=f"{job}/1", revision=1, time=NOW + number, model="m", prompt="1",
                    failure=FailureAnswer(failed=True, error_type=said, faulty_component=part, root=quoted("x", 9), summary="It broke."))
        for number, (job, said, part) in enumerate(
            [("17", "user_script", "none"), ("17", "infrastructure", "gpu"), ("18", "infrastructure", "storage"), ("16", "unknown", "none")]
        )
    ),
    failed("16", 1, message="lost as well"),
    failed("18", 1, error_type="user_script", faulty_component="none", signature="KeyError", source="traceback",
           contradicted_by=["node-logs"], confidence=0.5, restartable=False, node="n5"),
    failed("19", 1), failed("19", 2, error_type="none", faulty_component="none", signature="", message="the job went on after it"),
    event("20", "started", 10, nodes=["n3"]),
    *(Slowdown(id=f"s{packed}/{recovered}", job="20", packed_job=packed, node="n3", time=NOW + told, before_s=0.25, after_s=1.0, ratio=0.25,
               threshold=0.65, recovered=recovered, steps_after=40)
        for packed, told, recovered in [("30", 1, None), ("30", 1, 0.99), ("31", 20, None)]),
    failed("21", 1, message="lost in its first attempt", node="n8"),
    event("21", "started", 30, nodes=["n9"], attempt=1),
    failed("22", 1, error_type="other", faulty_component="none", signature="cancelled", message="cancelled", node=""),
    *(failed(job, 1, faulty_component="node", signature="oom_killer", restartable=False, node="n7") for job in ("23", "24")),
]  # fmt: skip


@pytest.fixture(scope="module")
def site(embedded: Embedded) -> Embedded:
    ClickHouseWriter(embedded.connect).write([(Position("any", 0, offset), one) for offset, one in enumerate(RECORDS)])
    return embedded


def test_the_whole_story_of_a_lost_gpu(site: Embedded) -> None:
    facts = gather(site.client, "17")
    assert facts is not None
    page = plain(facts, SIGNATURES)
    for words in (
        "Job 17, attempt 0", "on n1, n2, of ada; ended", "(FAILED, exit code 1)", "step 4200, 0.31 s a step, loss 2.5",
        "infrastructure (gpu) on n1: xid fallen off bus.", "the GPU is gone.", "confidence 0.99. A restart should help",
        "    job-logs/1@9 rank 3 line 77 | NVRM: Xid", "    node-logs/1@9 line 5 | NVRM: Xid 79",
        "Source: a known signature.", "The language model m agrees.", "The job exited with code 1.",
        "Confirmed by the log of the node.", "Job 16 failed on the same node",
        "Revision 1 was infrastructure, nccl_watchdog_timeout: a time-out",
        "Restart: done (runs on n7). Reason: a lost GPU.", SIGNATURES["xid_fallen_off_bus"].action, "Drain n1",
    ):  # fmt: skip
        assert words in page
    assert "\x1b" not in page


def test_where_it_could_be_started_again_from(site: Embedded) -> None:
    facts = gather(site.client, "17")
    assert facts is not None
    page = plain(facts, SIGNATURES)
    assert re.search(r"Last durable checkpoint .+, step 3000, /run/\S*`3000`\.", page)
    assert "1 save(s) of a checkpoint failed." in page
    assert "\x1b" not in page
    later = gather(site.client, "21", 1)
    assert later is not None
    assert "(by attempt 0), step 1000, /run/1000." in plain(later, SIGNATURES)
    without = gather(site.client, "20")
    assert without is not None
    assert "checkpoint" not in plain(without, SIGNATURES)


def test_what_the_nodes_said_for_and_against(site: Embedded) -> None:
    facts = gather(site.client, "17")
    assert facts is not None
    found = dict(
        zip(*[iter(re.split(r"^(.+)\n-+$", plain(facts, SIGNATURES), flags=re.MULTILINE)[1:])] * 2, strict=True)
    )
    assert "n1: xid_fallen_off_bus (gpu 0000:3b:00), fatal, 10 times." in found["Evidence for it"]
    assert "node-logs/1@9 line 5 | xid_fallen_off_bus on the node" in found["Evidence for it"]
    assert "n1: ib_link_down (network), fatal." in found["Evidence against it"]
    assert "n1: aer (node), warning." in found["Other findings on its nodes"]
    calm = gather(site.client, "18")
    assert calm is not None
    assert "gpus_healthy, info." in plain(calm, SIGNATURES)


def test_markdown_is_not_marked_up_by_a_jobs_words(site: Embedded) -> None:
    facts = gather(site.client, "17")
    assert facts is not None
    page = markdown(facts, SIGNATURES)
    assert page.startswith("# Job 17, attempt 0\n")
    assert "## What to do" in page
    quotes = [line for line in page.splitlines() if "`rm`" in line]
    assert quotes
    assert all(line.startswith("    ") for line in quotes)


def test_what_speaks_against(site: Embedded) -> None:
    facts = gather(site.client, "18")
    assert facts is not None
    page = plain(facts, SIGNATURES)
    for words in ("Source: the program's traceback.", "Not confirmed by the log of the node", "confidence is low", "had not ended",
                  "The language model m finds infrastructure (storage), line 9: It broke.",
                  "Fix the program", "Would have restarted; restarts are in shadow mode. Reason: a lost disk.",
                  "No scheduler reported", "A restart will not help"):  # fmt: skip
        assert words in page


def test_slowdowns_name_the_packed_job(site: Embedded) -> None:
    facts = gather(site.client, "20")
    assert facts is not None
    slowed = next(section for section in sections(facts, SIGNATURES) if section.title == "Slowdowns")
    assert [part.text.partition(" packed with ")[2] for part in slowed.parts] == [
        "job 30 on n3, it ran at 25% of its speed (0.25 s per step before, 1 s during the packing); afterwards at 99%.",
        "job 31 on n3, it ran at 25% of its speed (0.25 s per step before, 1 s during the packing).",
    ]
    other = gather(site.client, "17")
    assert other is not None
    assert "Slowdowns" not in plain(other, SIGNATURES)


def test_withdrawn_absent_and_unknown(site: Embedded) -> None:
    withdrawn, healthy = gather(site.client, "19"), gather(site.client, "20")
    assert withdrawn is not None
    assert healthy is not None
    assert "retracted" in plain(withdrawn, SIGNATURES)
    assert "the job went on after it" in plain(withdrawn, SIGNATURES)
    assert "no record shows a failure" in plain(healthy, SIGNATURES)
    assert "Running." in plain(healthy, SIGNATURES)
    assert "No action was decided." in plain(healthy, SIGNATURES)
    assert gather(site.client, "nobody") is None
    assert gather(site.client, "' OR 1=1 --") is None


def test_a_restart_does_not_hide_why_it_was_needed(site: Embedded) -> None:
    facts = gather(site.client, "21")
    assert facts is not None
    assert (facts.attempt, facts.newest) == (0, 1)
    assert "The job is now at attempt 1" in plain(facts, SIGNATURES)
    asked = gather(site.client, "21", 1)
    assert asked is not None
    assert (asked.attempt, asked.verdict) == (1, None)


def test_nobody_is_advised_to_start_again_what_was_cancelled(site: Embedded) -> None:
    facts = gather(site.client, "22")
    assert facts is not None
    assert "Restart it if it was ended by mistake." in plain(facts, SIGNATURES)


def test_a_job_hungry_for_memory_is_no_reason_to_take_a_node_out(site: Embedded) -> None:
    facts = gather(site.client, "23")
    assert facts is not None
    assert facts.neighbours == []
    assert "Drain n7" not in plain(facts, SIGNATURES)


def test_the_command(tmp_path: Path) -> None:
    url = f"--set=clickhouse.url=chdb://{migrated_database(tmp_path / 'empty')}"
    environment = {**os.environ, "SCHEDMATE_CONFIG": "/dev/null"}
    done = run_forked(url, "explain", "17", env=environment)
    assert done.returncode == 1
    assert b"nothing is on record of job '17'" in done.stderr
