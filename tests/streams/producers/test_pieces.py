from itertools import pairwise

import hypothesis.strategies as st
from hypothesis import example, given

from streams.producers.pieces import LIMIT, START, Mark, Pieces, PieceSplitter

ALPHABET = st.sampled_from(
    [b"a", b"\n", b"\r", b"\r\n", b"\x00", b"\xff", "é".encode(), b"\xe2\x82", b"x" * 40, b"y" * (LIMIT - 1)]
)
STREAMS = st.lists(ALPHABET, max_size=40).map(b"".join)


def split(data: bytes, cuts: list[int], start: Mark = START) -> list[tuple[str, int, int, int, bool]]:
    """Every piece with its line number, its own number, the byte at which it ends, and whether it goes on."""
    splitter = PieceSplitter(start)
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    fed = [splitter.feed(data[a:b]) for a, b in pairwise(places)]
    return [row for pieces in [*fed, splitter.finish()] for row in rows(pieces)]


def rows(pieces: Pieces) -> list[tuple[str, int, int, int, bool]]:
    return [
        (line, pieces.numbers[i], pieces.first + i, pieces.ends[i], i in pieces.cut)
        for i, line in enumerate(pieces.lines)
    ]


def texts(data: bytes) -> list[str]:
    return [row[0] for row in split(data, [])]


@given(STREAMS, st.lists(st.integers(0, 4000), max_size=30))
@example(b"a\r\nb\rc\r\r\n", list(range(12)))
def test_pieces_do_not_depend_on_how_the_bytes_were_read(data: bytes, cuts: list[int]) -> None:
    assert split(data, cuts) == split(data, [])


@given(STREAMS)
def test_a_splitter_goes_on_from_any_border(data: bytes) -> None:
    whole = split(data, [])
    for at, (_, line, piece, end, cut) in enumerate(whole[:-1]):
        following = whole[at + 1]
        assert following[2] == piece + 1
        assert following[1] in (line, line + 1)
        assert not cut or following[1] == line
        assert split(data[end:], [], Mark(end, following[1], piece + 1)) == whole[at + 1 :]


@given(STREAMS)
def test_nothing_is_lost_and_lines_are_counted_by_newlines(data: bytes) -> None:
    found = split(data, [])
    joined = "".join(text.rstrip("\r") for text, *_ in found)
    assert joined == data.decode("utf-8", "backslashreplace").replace("\n", "").replace("\r", "")
    assert all(len(text.encode()) <= LIMIT * 4 + 1 for text, *_ in found)
    if data.endswith(b"\n"):
        assert found[-1][1] == data.count(b"\n")


def test_the_rules() -> None:
    assert texts(b"one\ntwo\r\nthree") == ["one", "two", "three"]
    assert texts(b"\r 0%\r 50%\r100%\nend\n") == [" 0%\r", " 50%\r", "100%", "end"]
    assert texts(b"\n\n") == ["", ""]
    assert texts(b"a\r\r\n") == ["a\r", ""]
    assert texts(b"\x00\xff\xe2\x82\n") == ["\x00\\xff\\xe2\\x82"]
    assert texts(b"") == []


def test_a_carriage_return_waits_for_the_next_byte() -> None:
    splitter = PieceSplitter()
    assert splitter.feed(b"a\r").lines == []
    assert splitter.feed(b"\n").lines == ["a"]
    assert splitter.feed(b"b\r").lines == []
    assert splitter.feed(b"c").lines == ["b\r"]
    assert splitter.mark == Mark(5, 2, 3)


def test_a_long_line_is_cut_between_characters() -> None:
    data = b"a" + "é".encode() * LIMIT + b"\nnext\n"
    found = split(data, [])
    assert [row[1] for row in found] == [1, 1, 1, 2]
    assert [row[4] for row in found] == [True, True, False, False]
    assert all("\\x" not in row[0] for row in found)


def test_a_stream_without_newline_needs_bounded_memory() -> None:
    splitter = PieceSplitter()
    for _ in range(320):
        splitter.feed(b"z" * LIMIT)
        assert splitter.waiting <= LIMIT
    assert splitter.mark.line == 1
    assert splitter.mark.offset >= 319 * LIMIT


def test_a_bar_keeps_the_time_at_which_it_was_drawn() -> None:
    splitter = PieceSplitter()
    splitter.feed(b"10%", 1.0)
    pieces = splitter.feed(b"\r20%", 5.0)
    assert (pieces.lines, pieces.first_time) == (["10%\r"], 1.0)
    assert splitter.feed(b" more\n", 6.0).first_time == 6.0


def test_numbers_go_on_behind_a_gap() -> None:
    splitter = PieceSplitter()
    splitter.feed(b"one\ntw")
    assert splitter.finish().lines == ["tw"]
    splitter.skip(1000, 10)
    after = splitter.feed(b"o\nlast\n")
    assert list(after.numbers) == [12, 13]
    assert after.first == 13
    assert list(after.ends) == [1008, 1013]
