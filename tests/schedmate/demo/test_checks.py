"""Every promise of the demo can be broken, and then says so."""

from collections.abc import Callable

import msgspec
import pytest

from schedmate.demo.board import Board
from schedmate.demo.checks import check
from schedmate.demo.facts import DemoFacts
from schedmate.demo.programs import BUGGY, FAULTY, HEALTHY, KILLED, NEIGHBOUR, SAVER, URGENT, VICTIM
from schedmate_records import Action, DeadLetter, ErrorType, EventKind, Outcome, Slowdown

from .facts_made import decided, event, failure, good_board, good_facts


def broken(facts: DemoFacts) -> set[int]:
    return {place for place, each in enumerate(check(facts)) if not each.kept}


def changed(change: Callable[[Board], None]) -> DemoFacts:
    board = good_board()
    change(board)
    return good_facts(board)


def test_all_is_kept_where_all_went_well() -> None:
    assert broken(good_facts()) == set()


def test_nothing_is_kept_where_nothing_happened() -> None:
    assert len(broken(DemoFacts(Board()))) == len(check(DemoFacts(Board())))


def test_what_was_seen_is_said_for_every_promise() -> None:
    assert all(each.seen for each in check(good_facts()))
    assert all(each.seen for each in check(DemoFacts(Board())))


def test_a_slowdown_that_nobody_found() -> None:
    assert broken(changed(lambda board: board.slowdowns.clear())) >= {0}


def test_a_slowdown_of_another_job() -> None:
    def rename(board: Board) -> None:
        one: Slowdown = board.slowdowns[0]
        board.slowdowns[0] = msgspec.structs.replace(one, job=HEALTHY.name)

    assert broken(changed(rename)) == {0}


def test_a_neighbour_that_is_packed_again() -> None:
    again = event(NEIGHBOUR.name, EventKind.PACKED, 1, packed_with=VICTIM.name, newcomer=True)
    assert broken(changed(lambda board: board.add(again))) == {1}


def test_a_packing_that_could_not_be_cancelled() -> None:
    def fail(board: Board) -> None:
        decision, result = decided(Action.CANCEL_PACKING, NEIGHBOUR.name, Outcome.FAILED)
        board.results[decision.id] = [result]

    assert broken(changed(fail)) == {1}


@pytest.mark.parametrize("recovered", [None, 0.4], ids=["never measured", "still slow"])
def test_victim_that_does_not_recover(recovered: float | None) -> None:
    def stay_slow(board: Board) -> None:
        found = board.recoveries.pop()
        if recovered is not None:
            board.add(msgspec.structs.replace(found, recovered=recovered))

    assert broken(changed(stay_slow)) == {2}


def test_a_restart_on_the_same_slot() -> None:
    def stay(board: Board) -> None:
        line = board.jobs[FAULTY.name]
        slot = line.slots()[0]
        line.events = [msgspec.structs.replace(each, nodes=[slot]) for each in line.events]

    assert broken(changed(stay)) == {3}


def test_a_restart_that_was_only_published() -> None:
    def shadow(board: Board) -> None:
        decision, result = decided(Action.RESTART, FAULTY.name, Outcome.SHADOWED)
        board.results[decision.id] = [result]

    assert broken(changed(shadow)) == {3}


def test_a_restarted_job_that_fails_again() -> None:
    end = event(FAULTY.name, EventKind.ENDED, 1, exit_code=1, state="FAILED")
    assert broken(changed(lambda board: board.add(end))) == {3}


@pytest.mark.parametrize(
    "change",
    [{"node": "slot-2"}, {"node_evidence": False}],
    ids=["another node", "no witness but the job"],
)
def test_a_drain_of_the_wrong_kind(change: dict[str, object]) -> None:
    def drain(board: Board) -> None:
        key = f"{Action.DRAIN}/{FAULTY.name}"
        board.decisions[key] = msgspec.structs.replace(board.decisions[key], **change)

    assert broken(changed(drain)) == {4}


def test_a_drain_that_nobody_approved() -> None:
    assert broken(changed(lambda board: board.results[f"{Action.DRAIN}/{FAULTY.name}"].pop())) == {4}


def test_an_urgent_job_that_runs_elsewhere() -> None:
    def move(board: Board) -> None:
        line = board.jobs[URGENT.name]
        line.events = [msgspec.structs.replace(each, nodes=["slot-3"]) for each in line.events]

    assert broken(changed(move)) == {5}


def test_an_evicted_job_that_begins_again() -> None:
    def begin_again(board: Board) -> None:
        series = board.jobs[SAVER.name].metrics[1, 0]
        series[0] = msgspec.structs.replace(series[0], since_step=5)

    assert broken(changed(begin_again)) == {6}


def test_a_bug_blamed_on_the_infrastructure() -> None:
    def blame(board: Board) -> None:
        board.add(failure(BUGGY.name, ErrorType.INFRASTRUCTURE, "KeyError", revision=2))

    assert broken(changed(blame)) == {7}


@pytest.mark.parametrize(("program", "place"), [(BUGGY, 7), (KILLED, 8), (HEALTHY, 9)])
def test_a_restart_of_what_should_be_left_alone(program: object, place: int) -> None:
    def restart(board: Board) -> None:
        for record in decided(Action.RESTART, program.name):  # type: ignore[attr-defined]
            board.add(record)

    assert broken(changed(restart)) == {place}


def test_a_line_blamed_for_a_kill() -> None:
    assert broken(changed(lambda board: board.add(failure(KILLED.name, ErrorType.OTHER, "loss", revision=2)))) == {8}


def test_a_false_alarm() -> None:
    assert broken(changed(lambda board: board.add(failure(HEALTHY.name, ErrorType.UNKNOWN, "epoch")))) == {9}


def test_no_gpu_samples() -> None:
    assert broken(changed(lambda board: setattr(board, "gpu_samples", 0))) == {10}


def test_a_line_that_is_lost_and_a_dead_letter() -> None:
    assert broken(good_facts(pieces_read=499)) == {11}
    dead = DeadLetter(id="d", topic="job-logs", partition=0, offset=1, time=1.0, reason="r")
    assert broken(changed(lambda board: board.add(dead))) == {11}


@pytest.mark.parametrize("rows", [89, 91])
def test_a_record_missing_in_the_database_or_there_twice(rows: int) -> None:
    assert broken(good_facts(stored={"job-metrics": rows, "failures": 3})) == {12}
