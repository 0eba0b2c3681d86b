"""A small history with a bit of everything, written as the sink writes it; its texts try what strangers try."""

import time
from collections.abc import Iterator
from typing import Any

from schedmate_records import (
    Action,
    Alarm,
    BeyondQuota,
    Checkpoint,
    Command,
    Decision,
    DecisionResult,
    Estimate,
    Evidence,
    Failure,
    GpuProcess,
    GpuSample,
    JobEvent,
    JobMetric,
    LogChunk,
    Mode,
    NodeFinding,
    NodeLogChunk,
    OperatorCommand,
    OrganisationDemand,
    Outcome,
    Position,
    Quota,
    Record,
    StartEstimate,
    encode,
)
from sinks.clickhouse.writer import ClickHouseWriter
from streams.transport import Message
from tests.sinks.conftest import Embedded


class Clock:
    """When the history was written: tests may run long after their modules were imported."""

    now = 0.0


HOSTILE = "<script>document.title='owned'</script>\"'{{7*7}}/../?a=b&c#d\u202e"
"""A job's name: markup, a template, what means something in a link, and a mark that turns text round."""
LINE = "CUDA error <img src=x onerror=\"document.title='owned'\"> \x1b[2J 'out of memory'"
CITED = 30 * 7 + 4
"""Number of the line that verdicts and findings cite: the fourth of message 7."""


def event(job: str, kind: str, ago: float, attempt: int = 0, **fields: Any) -> JobEvent:
    scheduler = {"nodes": ["n1"], "gpus": 2.0, "user": "alice", "scheduler": "slurm"}
    return JobEvent(
        id=f"{job}/{attempt}/{kind}", job=job, attempt=attempt, kind=kind, time=Clock.now - ago, **(scheduler | fields)
    )


def metrics(
    job: str, steps: int, ago: float, attempt: int = 0, *, seconds: float = 0.5, rank: int = 0
) -> list[JobMetric]:
    return [
        JobMetric(
            id=f"{job}/{attempt}/{rank}/{step}", job=job, attempt=attempt, rank=rank, time=Clock.now - ago + step * 10, step=step,
            step_time_s=seconds, throughput=64.0, throughput_unit="samples/s", loss=2.0 / (step + 1), confidence=0.9, method="stated",
        )
        for step in range(steps)
    ]  # fmt: skip


def failure(job: str, attempt: int = 0, **fields: Any) -> Failure:
    line = Evidence(topic="job-logs", partition=0, offset=7, line=CITED, text=LINE, rank=0)
    known: dict[str, Any] = {
        "error_type": "user_script", "faulty_component": "none", "signature": "cuda_out_of_memory", "source": "signature",
        "message": LINE, "node": "n1", "rank": 0, "confidence": 0.9, "restartable": False, "root": line, "evidence": [line],
    }  # fmt: skip
    return Failure(
        id=f"{job}/{attempt}", job=job, attempt=attempt, revision=1, time=Clock.now - 300, **(known | fields)
    )


def decision(name: str, job: str, **fields: Any) -> Decision:
    known: dict[str, Any] = {"action": Action.RESTART, "mode": Mode.APPROVE, "policy": "restart", "reason": LINE}
    return Decision(id=name, job=job, time=Clock.now - 200, expires=Clock.now + 3600, **(known | fields))


def result(name: str, job: str, outcome: Outcome) -> DecisionResult:
    known = {"action": Action.RESTART, "time": Clock.now - 180, "outcome": outcome}
    return DecisionResult(id=f"result/{name}", decision_id=name, job=job, **known)  # type: ignore[arg-type]


def records() -> list[Record]:
    """All of it. `steady` runs, `odd` runs with an alarm, `again` failed once and runs, HOSTILE failed, `later` waits, `well` ended."""
    return [
        event("steady", "started", 1000),
        *metrics("steady", 60, 700),
        Estimate(
            id="steady/e", job="steady", revision=2, time=Clock.now - 60, duration_s=8000.0, duration_low_s=7000.0,
            duration_high_s=9000.0, remaining_s=7270.0, remaining_low_s=6000.0, remaining_high_s=8000.0, done=0.1, method="progress",
        ),
        Estimate(id="steady/before", job="steady", revision=1, time=Clock.now - 600, duration_s=1.0, method="similar"),
        event("odd", "started", 900),
        *metrics("odd", 20, 400, seconds=0.9),
        *metrics("odd", 20, 400, seconds=1.8, rank=1),
        Alarm(id="odd/1", job="odd", kind="loss_spike", raised=True, time=Clock.now - 60, since=Clock.now - 70, detail=LINE),
        event("again", "started", 2000),
        event("again", "ended", 1500, exit_code=1, state="FAILED"),
        event("again", "started", 1400, attempt=1),
        *metrics("again", 20, 1900),
        *metrics("again", 20, 1300, attempt=1),
        failure("again", error_type="infrastructure", signature="xid_fallen_off_bus", message="the GPU is gone", evidence=[
            Evidence(topic="job-logs", partition=0, offset=7, line=CITED, text=LINE, rank=0),
            Evidence(topic="gpu-metrics", partition=0, offset=7, line=1, text="Xid 79", stream="gpu"),
        ]),
        Checkpoint(
            id="again/c", job="again", number=1, state="durable", time=Clock.now - 1790, since=Clock.now - 1800, step=10,
            path="/c/10",
        ),
        event(HOSTILE, "started", 800),
        event(HOSTILE, "packed", 600, packed_with="steady"),
        event(HOSTILE, "ended", 300, exit_code=1, state="FAILED"),
        *metrics(HOSTILE, 40, 750),
        failure(HOSTILE),
        event("later", "submitted", 50),
        event("well", "started", 500),
        event("well", "ended", 100, exit_code=0, state="COMPLETED"),
        *metrics("silent", 5, 160),  # counted by the minute: in none of them did another job change
        decision("restart/'; rm -rf ~", HOSTILE),
        result("restart/'; rm -rf ~", HOSTILE, Outcome.AWAITING_APPROVAL),
        decision("restart/again", "again", mode=Mode.ACT),
        result("restart/again", "again", Outcome.DONE),
        *(
            Quota(
                id=f"quota/{HOSTILE}/{ago}", cluster=HOSTILE, time=Clock.now - ago, until=Clock.now - ago + 300,
                quota=12.0 - ago / 1000, reason=LINE,
                safety=1.0, guarantee=0.9, guaranteed_h=1, capacity=64.0, in_use=40.0, spot_in_use=8.0, forecaster="boosted_trees",
                organisations=[
                    OrganisationDemand(organisation="small", in_use=8.0),
                    OrganisationDemand(organisation=HOSTILE, in_use=32.0, waiting=4.0, peak=36.0, median=34.0, upper=41.5),
                ],
                beyond=[BeyondQuota(job=HOSTILE, gpus=16.0, held=True, since=Clock.now - 500.25)],
            )
            for ago in (3000, 2000, 60)
        ),
        OperatorCommand(id="s1", command=Command.STOP, user="bob", time=Clock.now - 20, reason=LINE),
        *(
            StartEstimate(id=f"later/{ago}", job="later", time=Clock.now - ago, expected_s=expected_s, low_s=600.0, high_s=9000.0,
                chance=1.0, method="queue")
            for ago, expected_s in ((3595, 7200.0), (7200, 60.0))
        ),
        *(
            NodeFinding(id=f"n/{job}", job=job, node="n1", time=Clock.now - 300, signature="aer", severity="warning",
                error_type="infrastructure", times=3,
                place=Evidence(topic="node-logs", partition=0, offset=7, line=CITED, text="AER: corrected"))
            for job in ("steady", "odd", "")
        ),
        *(
            GpuSample(
                id=f"g{place}", node="n1", gpu=0, uuid="GPU-1", time=Clock.now - 700 + place * 10, utilisation=80,
                processes=[GpuProcess(pid=1, job="steady")],
            )
            for place in range(70)
        ),
    ]  # fmt: skip


def read(place: Position, count: int) -> Iterator[Message]:
    """Yield the lines that are cited, among others, as a broker would: each message holds thirty."""
    for offset in range(place.offset, min(place.offset + count, 12)):
        lines = [f"line {number} of message {offset}" for number in range(30)]
        chunk: LogChunk | NodeLogChunk
        first = 30 * offset + 1
        if place.topic == "node-logs":
            chunk = NodeLogChunk(node="n1", time=Clock.now - 300, lines=lines, first_line=first)
        else:
            lines[3] = LINE
            chunk = LogChunk(job="<b>{{7*7}}</b>", time=Clock.now - 300, lines=lines, first_line=first)
        key = chunk.job if isinstance(chunk, LogChunk) else chunk.node
        yield Message(Position(place.topic, place.partition, offset), key.encode(), encode(chunk), Clock.now - 300)


def write(embedded: Embedded) -> None:
    """Write it all to the database, as of now."""
    Clock.now = float(int(time.time()))
    writer = ClickHouseWriter(embedded.connect)
    writer.write([(Position("made", 0, place), record) for place, record in enumerate(records())])
    writer.close()
