"""A small cluster's week, as records."""

import time
from datetime import UTC, datetime
from typing import Any

import msgspec

from schedmate_records import (
    Action,
    Alarm,
    Checkpoint,
    DeadLetter,
    Decision,
    DecisionResult,
    Estimate,
    Failure,
    FailureAnswer,
    GpuActivity,
    GpuProcess,
    GpuSample,
    JobEvent,
    ModelAnswer,
    NodeFinding,
    Outcome,
    Record,
    Slowdown,
    Workload,
)
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


_SLOW = [
    ("s1", 1, "n8", 0.8, 1.5),
    ("s2", 2, "n8", 0.9, 1.5),
    ("s3", 0, "n8", 0.7, 1.5),
    ("s1", 3, "n9", 0.8, 1.4),
    ("s3", 3, "n9", 0.8, 1.4),
    ("s4", 3, "n9", 0.8, 1.4),
    ("s5", 1, "n9", 0.8, 48),
    ("u", 1, "n9", 0.8, 1.4),
]
"""Job, rank, node, seconds a step, and how many hours ago."""
STRAGGLERS: list[Record] = [
    *(event(job, "started", hours, nodes=nodes, user=user) for job, hours, nodes, user in [("s1", 2, ["n8", "n9"], "ada"),
        ("s2", 2, ["n8", "n9"], "bob"), ("s3", 2, ["n8", "n9"], "ada"), ("s4", 2, ["n8", "n9"], "ada"), ("s5", 60, ["n9"], "carl")]),
    *(event(job, "ended", 1, exit_code=0) for job in ["s1", "s2", "s3", "s4"]),
    event("s5", "ended", 47, exit_code=0),
    *(Alarm(id=f"al{job}{rank}", job=job, kind="straggler", raised=True, time=NOW - hours * HOUR, since=NOW - hours * HOUR, rank=rank,
        value=value, usual=0.5, detail=f"rank {rank} takes {value} s a step")
        for job, rank, _, value, hours in _SLOW),
    *(metric(offset, job, rank=rank, node=node, time=NOW - hours * HOUR)[1]
        for offset, (job, rank, node, _, hours) in enumerate([*_SLOW, ("s2", 0, "n9", 0.5, 1.5)])),
]  # fmt: skip
"""What tells of nodes that slow several jobs: `n8` three, of ada and bob; `n9` three of ada's, one whose user nobody told, and two days ago
one of carl's.
"""

WEEK: list[Record] = [
    # a: 8 GPUs for 10 hours until its node failed; then it ran again for 4 hours and ended well.
    event("a", "started", 20, nodes=["n1", "n2"], gpus=8.0, user="ada"),
    event("a", "requeued", 10),
    event("a", "started", 9, attempt=1, nodes=["n2"], gpus=8.0, partition="long"),
    event("a", "ended", 5, attempt=1, exit_code=0, state="COMPLETED"),
    failed("a", "infrastructure", 10, faulty_component="gpu", signature="xid-79", node="n1"),
    # b: 2 GPUs for 3 hours; a first guess was replaced by a second, better one.
    event("b", "submitted", 8.5, command="python train.py --lr 1e-4", directory="/home/bob/bert", branch="main", name="bert", user="bob",
        workload=Workload(model_name="bert-base", lr=1e-4)),
    event("b", "started", 8, nodes=["n3"], gpus=2.0, user="bob"),
    *(metric(step, "b", time=NOW - 7 * HOUR + step, step_time_s=0.5, throughput=64.0)[1] for step in (1, 2)),
    # Half an hour before it began, twice while it ran (beside p), and after it.
    *(GpuSample(id=f"b{hours}", node="n3", gpu=0, time=NOW - hours * HOUR, utilisation=used,
        processes=[GpuProcess(pid=1, job="b"), GpuProcess(pid=2, job="p")])
        for hours, used in [(8.5, 1), (7, 90), (6, 70), (4, 3)]),
    event("b", "described", 7, workload=Workload(model_name="bert-base", lr=1e-4, batch_size=32)),
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
    *(Slowdown(id=name, job="a", packed_job="c", node="", time=NOW - 60, before_s=1.0, after_s=2.0, ratio=0.5, threshold=0.65,
        recovered=recovered, steps_after=9) for name, recovered in [("s2", None), ("s2/recovered", 0.9)]),
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
    *STRAGGLERS,
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
        ("u", 1, "started", 100), ("a", 3, "started", 100), ("c", 1, "started", 900), ("c", 1, "failed", 900), ("c", 2, "durable", 800)]),
    *(ModelAnswer(id=f"m{i}", job=job, about=f"f/{job}/0/{revision}", revision=revision, time=NOW - 60 * i, model="m", prompt="1",
        failure=FailureAnswer(failed=True, error_type=said, root=line(7, 7, "x"), certainty="high"))
        for i, (job, revision, said) in enumerate([("a", 1, "user_script"), ("b", 2, "user_script"), ("b", 1, "other"),
            ("c", 1, "unknown"), ("d", 2, "framework")])),
    ModelAnswer(id="mt", job="a", about="f/a/0/1", revision=1, time=NOW, model="m", prompt="1"),
    *(DeadLetter(id=f"x{i}", topic="job-logs", partition=1, offset=i, time=NOW + i, reason="not JSON", value=b"{..") for i in range(3)),
    # a's second attempt took 4 hours: one guess before it ran, two while it ran; b failed, c still runs.
    *(Estimate(id=f"e{job}{attempt}{revision}", job=job, attempt=attempt, revision=revision, time=NOW - ago_h * HOUR,
        duration_s=hours * HOUR, duration_low_s=hours * HOUR - low, duration_high_s=high and hours * HOUR + high, done=done, method=method)
        for job, attempt, revision, ago_h, hours, low, high, done, method in [
            ("a", 1, 0, 9.1, 6.0, HOUR, HOUR, None, "similar"), ("a", 1, 1, 8, 4.3, HOUR, HOUR, 0.3, "progress"),
            ("a", 1, 2, 7, 4.2, 60.0, None, 0.5, "progress"), ("b", 0, 1, 6, 9.0, 1.0, 1.0, 0.1, "progress"),
            ("c", 0, 1, 1, 9.0, 1.0, 1.0, 0.1, "progress")]),
    Estimate(id="ea13", job="a", attempt=1, revision=3, time=NOW - 6 * HOUR, method="unknown"),
    DeadLetter(id="y", topic="job-events", partition=0, offset=9, time=NOW, reason="no field kind", stage="process"),
]  # fmt: skip
