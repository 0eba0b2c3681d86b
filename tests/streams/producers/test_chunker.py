from functools import partial
from itertools import pairwise

import hypothesis.strategies as st
from hypothesis import given

from schedmate_records import LogChunk, check, encode
from streams.producers.chunker import Chunker, ChunkLimits, Ready
from streams.producers.pieces import LIMIT, PieceSplitter

MAKE = partial(LogChunk, job="1", producer="p")


def chunk(data: list[tuple[float, bytes]], **limits: float) -> list[Ready[LogChunk]]:
    splitter, chunker = PieceSplitter(), Chunker(MAKE, limits=ChunkLimits(**limits))  # type: ignore[arg-type]
    ready = [r for time, block in data for r in chunker.add(splitter.feed(block, time), 0.0)]
    return ready + chunker.flush()


def test_a_chunk_closes_at_five_hundred_pieces() -> None:
    ready = chunk([(7.0, b"x\n" * 1200)])
    assert [len(r.record.lines) for r in ready] == [500, 500, 200]
    assert [r.record.seq for r in ready] == [0, 1, 2]
    assert [(r.record.first_line, r.record.first_piece) for r in ready] == [(1, 1), (501, 501), (1001, 1001)]
    assert [r.after.offset for r in ready] == [1000, 2000, 2400]
    assert all(r.record.after_ms == [] and r.record.time == 7.0 for r in ready)


def test_a_chunk_closes_before_64_kilobytes() -> None:
    ready = chunk([(0.0, b"y" * 999 + b"\n")] * 200)
    assert all(sum(len(line) + 1 for line in r.record.lines) <= 65536 for r in ready)
    assert [len(r.record.lines) for r in ready] == [65, 65, 65, 5]


def test_the_worst_bytes_fit_into_a_megabyte() -> None:
    ready = chunk([(0.0, b"\x00" * (10 * LIMIT)), (0.0, b"\xff" * (10 * LIMIT))])
    assert max(len(encode(r.record)) for r in ready) < 1_000_000


def test_a_chunk_closes_half_a_second_after_its_first_piece() -> None:
    splitter, chunker = PieceSplitter(), Chunker(MAKE)
    assert chunker.deadline is None
    assert chunker.add(splitter.feed(b"a\n", 50.0), now=10.0) == []
    assert chunker.add(splitter.feed(b"b\n", 50.25), now=10.25) == []
    assert chunker.due(10.4) == []
    (ready,) = chunker.due(10.5)
    assert ready.record.lines == ["a", "b"]
    assert ready.record.after_ms == [0, 250]
    assert chunker.due(13.0) == []


def test_a_silence_is_reported_by_chunks_without_pieces_within_seconds_and_then_less_often() -> None:
    splitter, chunker = PieceSplitter(), Chunker(MAKE)
    assert chunker.due(1e9) == [], "nothing came yet, so nothing stopped"
    chunker.add(splitter.feed(b"a\nb\n", 5000.0), now=10.0)
    chunker.flush()
    told = []
    while (deadline := chunker.deadline) is not None:
        (ready,) = chunker.due(deadline)
        told.append((deadline - 10.0, ready.record.time - 5000.0))
        assert ready.record.lines == []
        assert (ready.record.first_line, ready.record.first_piece, ready.after.piece) == (3, 3, 3)
    assert all(abs(silence - reported) < 0.001 for silence, reported in told)
    silences = [silence for silence, _ in told]
    assert [round(silence) for silence in silences[:3]] == [3, 13, 23]
    gaps = [later - earlier for earlier, later in pairwise(silences)]
    assert max(gap for gap, silence in zip(gaps, silences, strict=False) if silence < 600) <= 10.001
    assert all(gap <= silence / 10 + 0.001 for gap, silence in zip(gaps, silences, strict=False) if silence >= 600)
    assert 10_000 < silences[-1] <= 4 * 3600
    assert len(silences) < 100, "a silent stream costs few messages"
    (later,) = [*chunker.add(splitter.feed(b"c\n", 90000.0), now=85010.0), *chunker.flush()]
    assert (later.record.lines, later.record.first_piece, later.record.seq) == (["c"], 3, 1 + len(told))
    assert chunker.deadline == 85013.0


def test_a_silent_node_is_nothing_to_tell() -> None:
    splitter, chunker = PieceSplitter(), Chunker(MAKE, heartbeats=False)
    chunker.add(splitter.feed(b"a\n"), now=0.0)
    chunker.flush()
    assert chunker.deadline is None


def test_a_clock_set_back_gives_no_negative_time() -> None:
    (ready,) = chunk([(100.0, b"a\n"), (101.0, b"b\n"), (40.0, b"c\n"), (103.0, b"d\n")])
    assert ready.record.after_ms == [0, 1000, 1000, 3000]


def test_a_clock_set_forward_by_years_makes_a_chunk_that_is_taken() -> None:
    (ready,) = chunk([(100.0, b"a\n"), (1.8e9, b"b\n"), (1.8e9, b"c\n")])
    check(ready.record)
    assert ready.record.lines == ["a", "b", "c"]


def test_a_gap_begins_a_new_chunk() -> None:
    splitter, chunker = PieceSplitter(), Chunker(MAKE)
    chunker.add(splitter.feed(b"a\n"), 0.0)
    splitter.skip(100, 5)
    (before,) = chunker.add(splitter.feed(b"b\n"), 0.0)
    (after,) = chunker.flush()
    assert (before.record.lines, after.record.lines) == (["a"], ["b"])
    assert (after.record.first_line, after.record.first_piece) == (7, 7)


@given(st.lists(st.sampled_from([b"a\n", b"b\r", b"c" * 50, b"\n", b"d" * LIMIT]), max_size=60), st.integers(1, 9))
def test_chunks_hold_all_pieces_in_order_and_resume_anywhere(blocks: list[bytes], pieces: int) -> None:
    data = b"".join(blocks)
    whole = PieceSplitter().feed(data)
    ready = chunk([(float(i), block) for i, block in enumerate(blocks)], pieces=pieces)
    assert [line for r in ready for line in r.record.lines] == whole.lines
    cut = [r.record.first_piece + index - 1 for r in ready for index in r.record.cut]
    assert cut == whole.cut
    for r in ready:
        assert len(r.record.after_ms) in (0, len(r.record.lines))
        rest = PieceSplitter(r.after).feed(data[r.after.offset :])
        assert rest.lines == whole.lines[r.after.piece - 1 :]
        assert list(rest.numbers) == list(whole.numbers[r.after.piece - 1 :])
