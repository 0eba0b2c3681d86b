"""Which pieces are new: repeats left out, late ones taken, line numbers kept."""

import time
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from processors.new_lines import deduplicate
from processors.state import SourceState
from schedmate_records import LogChunk


def chunk(first: int, lines: list[str], line: int | None = None, cut: list[int] | None = None) -> LogChunk:
    return LogChunk(
        job="j",
        producer="p",
        lines=lines,
        time=10.0,
        first_piece=first,
        first_line=first if line is None else line,
        cut=cut or [],
    )


def test_a_repeat_is_left_out() -> None:
    state = SourceState()
    assert list(deduplicate(chunk(1, ["a", "b"]), state).lines) == ["a", "b"]
    again = deduplicate(chunk(1, ["a", "b"]), state)
    assert (list(again.lines), again.repeats) == ([], 2)


def test_a_chunk_of_cut_pieces_costs_in_proportion_to_them() -> None:
    """A chunk is what a stranger says: a search through all cuts for each piece takes minutes for one message."""

    def seconds(pieces: int) -> float:
        everything = chunk(1, [""] * pieces, cut=[pieces] * pieces)
        return min(_seconds(lambda: deduplicate(everything, SourceState())) for _ in range(3))

    assert seconds(16_000) < 40 * seconds(1_000)


def _seconds(action: Callable[[], object]) -> float:
    began = time.thread_time()
    action()
    return time.thread_time() - began


def test_what_overlaps_is_cut_off() -> None:
    state = SourceState()
    deduplicate(chunk(1, ["a", "b", "c"]), state)
    fresh = deduplicate(chunk(2, ["b", "c", "d", "e"]), state)
    assert (list(fresh.lines), list(fresh.numbers), fresh.repeats) == (["d", "e"], [4, 5], 2)


def test_a_chunk_that_was_overtaken_is_still_taken_once() -> None:
    state = SourceState()
    deduplicate(chunk(1, ["a"]), state)
    deduplicate(chunk(4, ["d"]), state)
    assert list(deduplicate(chunk(2, ["b", "c"]), state).lines) == ["b", "c"]
    assert list(deduplicate(chunk(2, ["b", "c"]), state).lines) == []
    assert state.gaps == []


def test_redrawn_and_cut_pieces_stay_on_their_line() -> None:
    state = SourceState()
    fresh = deduplicate(chunk(1, ["10%\r", "20%\r", "done", "long", "er", "next"], cut=[3]), state)
    assert list(fresh.numbers) == [1, 1, 1, 2, 2, 3]
    assert (state.next_piece, state.next_line) == (7, 4)


def test_without_numbers_the_state_counts() -> None:
    state = SourceState()
    bare = LogChunk(job="j", lines=["x"], time=1.0)
    assert [list(deduplicate(bare, state).numbers) for _ in range(3)] == [[1], [2], [3]]


def test_a_silence_changes_nothing_even_where_it_overtakes_lines() -> None:
    state = SourceState()
    deduplicate(chunk(1, ["a"]), state)
    assert list(deduplicate(chunk(5, []), state).lines) == []
    assert list(deduplicate(chunk(2, ["b", "c", "d"]), state).lines) == ["b", "c", "d"]
    assert (state.next_piece, state.gaps) == (5, [])


def test_arrival_times_follow_the_pieces() -> None:
    timed = LogChunk(job="j", producer="p", lines=["a", "b"], time=5.0, after_ms=[0, 1500], first_piece=1, first_line=1)
    assert list(deduplicate(timed, SourceState()).times) == [5.0, 6.5]


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 8)), max_size=40), st.randoms(use_true_random=False))
def test_every_piece_is_taken_once_in_whatever_order_and_cut(parts: list[tuple[int, int]], chance: object) -> None:
    """Any chunks of one numbered stream: no piece twice, and none that came is missing (within the gaps remembered)."""
    state, taken = SourceState(), []
    sent: set[int] = set()
    for first, count in parts:
        lines = [str(first + index) for index in range(count)]
        fresh = deduplicate(chunk(first, lines), state)
        assert [str(number) for number in fresh.numbers] == list(fresh.lines)
        taken += [int(line) for line in fresh.lines]
        sent |= set(range(first, first + count))
    assert len(taken) == len(set(taken))
    assert set(taken) <= sent


@given(st.permutations(range(12)))
def test_nothing_is_lost_however_chunks_are_shuffled(order: list[int]) -> None:
    state, taken = SourceState(), []
    for place in order:
        first = place * 3 + 1
        taken += list(deduplicate(chunk(first, [str(first), str(first + 1), str(first + 2)]), state).lines)
    assert sorted(map(int, taken)) == list(range(1, 37))
