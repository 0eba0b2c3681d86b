"""Findings to feed a bridge with."""

from typing import Any

from schedmate_records import (
    Checkpoint,
    CheckpointState,
    Component,
    Decision,
    DecisionResult,
    ErrorType,
    Evidence,
    Failure,
    Outcome,
    Record,
    Slowdown,
)

NOW = 1_800_000_000.0


def evidence(line: int = 7, offset: int = 3) -> Evidence:
    return Evidence(topic="job-logs", partition=0, offset=offset, line=line, text="NCCL WARN: remote process exited")


def failure(**changes: Any) -> Failure:
    """A verdict that leads to a restart, unless `changes` say otherwise."""
    job, revision = changes.get("job", "1"), changes.get("revision", 1)
    fields: dict[str, Any] = {
        "id": f"failure/{job}/{changes.get('attempt', 0)}/{revision}",
        "job": job,
        "time": NOW,
        "node": "slot-0",
        "rank": 0,
        "root": evidence(),
        "message": "Xid 79: GPU has fallen off the bus",
        "error_type": ErrorType.INFRASTRUCTURE,
        "faulty_component": Component.GPU,
        "restartable": True,
        "confidence": 0.95,
        "source": "signature",
        "signature": "xid_79",
        "evidence": [evidence()],
    }
    return Failure(**fields | changes)


def slowdown(**changes: Any) -> Slowdown:
    """A slowdown that leads to the end of a packing, unless `changes` say otherwise."""
    fields: dict[str, Any] = {
        "id": "slowdown/1/job-events/0/9/0",
        "job": "1",
        "packed_job": "2",
        "node": "slot-0",
        "time": NOW,
        "before_s": 0.1,
        "after_s": 0.2,
        "ratio": 0.5,
        "threshold": 0.65,
        "steps_after": 40,
    }
    return Slowdown(**fields | changes)


def checkpoint(job: str, time: float) -> Checkpoint:
    """A durable checkpoint that began at `time`."""
    return Checkpoint(
        id=f"checkpoint/{job}/{time}", job=job, number=1, state=CheckpointState.DURABLE, time=time, since=time
    )


class Written:
    """What a bridge published, in order."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def __call__(self, record: Record) -> None:
        self.records.append(record)

    @property
    def decisions(self) -> list[Decision]:
        return [record for record in self.records if isinstance(record, Decision)]

    @property
    def results(self) -> list[DecisionResult]:
        return [record for record in self.records if isinstance(record, DecisionResult)]

    @property
    def outcomes(self) -> list[Outcome]:
        return [result.outcome for result in self.results]
