"""DemoFacts of a demo in which all went well, made by hand, for tests that break one of them."""

from typing import Any

import msgspec

from schedmate.demo.board import Board
from schedmate.demo.facts import DemoFacts
from schedmate.demo.programs import BUGGY, FAULTY, HEALTHY, KILLED, NEIGHBOUR, PROGRAMS, SAVER, URGENT, VICTIM
from schedmate_records import (
    Action,
    Checkpoint,
    CheckpointState,
    Component,
    Decision,
    DecisionResult,
    ErrorType,
    EventKind,
    Evidence,
    Failure,
    GpuSample,
    JobEvent,
    JobMetric,
    Mode,
    Outcome,
    Slowdown,
)

SAVED = "/run/saver-step40.pt"


def event(job: str, kind: EventKind, attempt: int = 0, slot: str = "slot-0", **more: Any) -> JobEvent:
    name = f"{job}/{attempt}/{kind}/{more.get('packed_with', '')}"
    return JobEvent(id=name, job=job, attempt=attempt, kind=kind, time=1.0, nodes=[slot], **more)


def failure(job: str, error_type: ErrorType, text: str | None = None, **more: Any) -> Failure:
    root = Evidence(topic="job-logs", partition=0, offset=3, line=7, text=text) if text else None
    return Failure(id=job, job=job, time=2.0, root=root, message=text or "killed", error_type=error_type, **more)


def decided(action: Action, job: str, outcome: Outcome = Outcome.DONE, **more: Any) -> tuple[Decision, DecisionResult]:
    decision = Decision(
        id=f"{action}/{job}",
        action=action,
        job=job,
        time=2.0,
        expires=9.0,
        mode=Mode.ACT,
        policy="p",
        reason="r",
        **more,
    )
    result = DecisionResult(
        id=f"{decision.id}/{outcome}", decision_id=decision.id, action=action, job=job, time=3.0, outcome=outcome
    )
    return decision, result


def good_board() -> Board:
    board = Board()
    board_events = [
        *(event(program.name, EventKind.SUBMITTED) for program in PROGRAMS),
        *(event(program.name, EventKind.STARTED, slot=f"slot-{at}") for at, program in enumerate(PROGRAMS)),
        event(NEIGHBOUR.name, EventKind.PACKED, packed_with=VICTIM.name, newcomer=True),
        event(NEIGHBOUR.name, EventKind.STARTED, 1, "slot-1"),
        event(FAULTY.name, EventKind.ENDED, exit_code=None, signal=6, state="FAILED"),
        event(FAULTY.name, EventKind.STARTED, 1, "slot-9"),
        event(BUGGY.name, EventKind.ENDED, exit_code=1, state="FAILED"),
        event(KILLED.name, EventKind.ENDED, signal=9, state="FAILED"),
        event(FAULTY.name, EventKind.ENDED, 1, exit_code=0, state="COMPLETED"),
        event(NEIGHBOUR.name, EventKind.ENDED, 1, exit_code=0, state="COMPLETED"),
        event(VICTIM.name, EventKind.ENDED, exit_code=0, state="COMPLETED"),
        event(HEALTHY.name, EventKind.ENDED, exit_code=0, state="COMPLETED"),
        event(SAVER.name, EventKind.STARTED, slot="slot-4"),
        event(URGENT.name, EventKind.STARTED, slot="slot-4"),
        event(URGENT.name, EventKind.ENDED, exit_code=0, state="COMPLETED"),
        event(SAVER.name, EventKind.STARTED, 1, "slot-9"),
        event(SAVER.name, EventKind.ENDED, 1, exit_code=0, state="COMPLETED"),
    ]
    for record in board_events:
        board.add(record)
    board.add(failure(FAULTY.name, ErrorType.INFRASTRUCTURE, "Xid 79", faulty_component=Component.GPU))
    board.add(failure(BUGGY.name, ErrorType.USER_SCRIPT, "KeyError: 'accuracy'"))
    board.add(failure(KILLED.name, ErrorType.OTHER))
    slowdown = Slowdown(
        id="s", job=VICTIM.name, packed_job=NEIGHBOUR.name, time=4.0, before_s=0.01, after_s=0.05, ratio=0.2,
        threshold=0.65, steps_after=80,
    )  # fmt: skip
    board.add(slowdown)
    board.add(msgspec.structs.replace(slowdown, id="recovered", recovered=0.98))
    drain = decided(Action.DRAIN, FAULTY.name, node="slot-1", node_evidence=True)
    asked = msgspec.structs.replace(drain[1], id="asked", outcome=Outcome.AWAITING_APPROVAL)
    for record in (
        *decided(Action.RESTART, FAULTY.name),
        *decided(Action.CANCEL_PACKING, NEIGHBOUR.name),
        *decided(Action.EVICT, SAVER.name, checkpoint=SAVED),
        *drain,
        asked,
        Checkpoint(id="c", job=SAVER.name, number=1, state=CheckpointState.DURABLE, time=1.0, since=1.0, path=SAVED),
        JobMetric(id="m", job=SAVER.name, attempt=1, time=5.0, step=60, since_step=45, reports=4),
    ):
        board.add(record)
    board.add(GpuSample(id="g", node="n", gpu=0, time=1.0))
    return board


def good_facts(board: Board | None = None, **changed: Any) -> DemoFacts:
    values: dict[str, Any] = {
        "board": board or good_board(),
        "gpus": "a made-up recording: NVML finds no GPU here",
        "pieces_shipped": 500,
        "pieces_read": 500,
        "written": {"job-metrics": 90, "failures": 3},
        "stored": {"job-metrics": 90, "failures": 3},
    }
    return DemoFacts(**{**values, **changed})
