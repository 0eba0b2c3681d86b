"""Reading states back: which of a key's messages holds, whatever workers wrote late, followed, and deleted."""

import itertools
from collections.abc import Iterable

import pytest

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import Position
from streams.runtimes.states import States
from streams.runtimes.stored import Key, StateHeader, pack
from streams.transport import Message

FIRST, SECOND, THIRD = 1 << 16, 2 << 16, 3 << 16


def written(epoch: int, progress: int, name: str = "j", part: str = "") -> tuple[Key, bytes]:
    return Key(name, part, epoch), pack(JobState(job=name), StateHeader(False, progress, 100.0, epoch))


def deleted(epoch: int, name: str = "j", part: str = "") -> tuple[Key, bytes]:
    return Key(name, part, epoch), b""


def loaded(told: Iterable[tuple[Key, bytes]]) -> tuple[int | None, set[int]]:
    """Return the progress of the state that holds, None where there is none, and the epochs whose messages are deleted."""
    states = States(JobProcessor(), 0)
    for at, (key, value) in enumerate(told):
        states.load([Message(Position(JobProcessor.state_topic, 0, at), key.encode(), value, 100.0)])
    gone = {Key.decode(each.key or b"").epoch for each in states.loaded()}
    found = states.header("j")
    return found and found.progress, gone


def test_of_two_workers_the_one_with_more_input_holds_whoever_wrote_last() -> None:
    for told in itertools.permutations([written(FIRST, 5), written(SECOND, 9)]):
        assert loaded(told) == (9, {FIRST})


def test_a_worker_that_follows_may_replace_a_state_with_more_input() -> None:
    """The one before wrote late, from an order that the newcomer had read; that one did the first of it, and deletes what it replaced."""
    told = [written(FIRST, 5), written(FIRST, 37), written(SECOND, 8), deleted(FIRST)]
    assert loaded(told) == (8, set())


@pytest.mark.parametrize("gone", [FIRST, SECOND, THIRD])
def test_what_is_left_of_three_is_the_one_with_most_input(gone: int) -> None:
    for told in itertools.permutations([written(FIRST, 7), written(SECOND, 5), written(THIRD, 9)]):
        progress, stale = loaded([*told, deleted(gone)])
        assert progress == (7 if gone == THIRD else 9)
        assert len(stale) == 1
        assert gone not in stale


def test_what_all_have_deleted_is_gone() -> None:
    told = [written(FIRST, 5), written(SECOND, 8), deleted(SECOND), deleted(FIRST)]
    assert loaded(told) == (None, set())


def test_a_part_whose_state_is_gone_is_deleted() -> None:
    assert loaded([written(FIRST, 5), written(FIRST, 5, part="0/0/stdout"), deleted(FIRST)]) == (None, {FIRST})
