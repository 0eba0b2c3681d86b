"""The board and what is told of it."""

import msgspec

from schedmate.demo.board import Watcher
from schedmate.demo.programs import BUGGY
from schedmate_records import ErrorType, EventKind, JobEvent, Record
from streams.memory import MemoryBroker
from streams.transport import outgoing

from .facts_made import event, failure, good_board


def lines_about(*records: Record) -> list[str]:
    broker = MemoryBroker()
    watcher = Watcher(broker, clock=lambda: 7.0)
    moments = []
    for record in records:
        broker.append(outgoing(record))
        moments += watcher.step()
    assert all(moment.time == 7.0 for moment in moments)
    return [moment.text for moment in moments]


def test_the_state_of_a_job_follows_from_its_events() -> None:
    board = good_board()
    assert board.jobs[BUGGY.name].state == "failed"
    board.add(event(BUGGY.name, EventKind.REQUEUED, 1))
    assert board.jobs[BUGGY.name].state == "queued"
    board.add(event(BUGGY.name, EventKind.STARTED, 1, "slot-3"))
    line = board.jobs[BUGGY.name]
    assert (line.state, line.slot, line.attempt) == ("running", "slot-3", 1)


def test_a_verdict_taken_back_is_no_verdict() -> None:
    board = good_board()
    board.add(failure(BUGGY.name, ErrorType.NONE, revision=2))
    assert board.jobs[BUGGY.name].verdicts() == []


def test_a_verdict_that_is_said_again_is_told_once() -> None:
    started = event("job", EventKind.STARTED)
    first = failure("job", ErrorType.USER_SCRIPT, "KeyError: 'a'")
    final = msgspec.structs.replace(first, revision=2, final=True, id="2")
    other = msgspec.structs.replace(first, revision=3, error_type=ErrorType.INFRASTRUCTURE, id="3")
    assert lines_about(started, first, final, other) == [
        "started on slot-0",
        "verdict: user script: KeyError: 'a'",
        "verdict: infrastructure: KeyError: 'a'",
    ]


def test_events_of_one_moment_are_told_in_the_order_of_their_times() -> None:
    broker = MemoryBroker()
    late, early = (
        JobEvent(id=f"{at}", job=job, kind=EventKind.STARTED, time=at, nodes=[job])
        for at, job in ((9.0, "late"), (8.0, "early"))
    )
    for record in (late, early):
        broker.append(outgoing(record))
    assert [moment.job for moment in Watcher(broker).step()] == ["early", "late"]
