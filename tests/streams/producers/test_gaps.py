"""Runs of NUL bytes are found whatever the sizes of the reads."""

import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.producers.gaps import SHORTEST, next_data, split_gaps

PARTS = st.lists(
    st.sampled_from([b"a", b"\n", b"\0", b"\0" * 5, b"\0" * SHORTEST, b"\0" * 40, b"text\n"]), max_size=12
).map(b"".join)


def parts_of(data: bytes, ends: list[int]) -> list[bytes | int]:
    """Read `data` as it grows to each of `ends`, and return its parts, joined where a read cut them."""
    found: list[bytes | int] = []
    at, after_gap = 0, True
    for end in ends:
        for part in split_gaps(data[at:end], after_gap=after_gap, at_end=end == ends[-1]):
            after_gap = isinstance(part, int)
            at += part if isinstance(part, int) else len(part)
            if found and type(found[-1]) is type(part):
                found[-1] += part  # type: ignore[operator]
            else:
                found.append(part)
    return found


@given(PARTS, st.lists(st.integers(0, 200)))
def test_parts_do_not_depend_on_how_the_file_was_cut_into_reads(data: bytes, cuts: list[int]) -> None:
    data += b"end"  # NUL bytes at the end of a file may wait
    ends = sorted({min(cut, len(data)) for cut in cuts} | {len(data)})
    assert parts_of(data, ends) == parts_of(data, [len(data)])


@given(PARTS)
def test_text_and_gaps_make_up_the_file_but_for_nul_bytes_at_its_end(data: bytes) -> None:
    parts = parts_of(data, [len(data)])
    made = b"".join(bytes(part) if isinstance(part, int) else part for part in parts)
    assert made == data.rstrip(b"\0")
    assert all(type(one) is not type(other) for one, other in pairwise(parts))
    assert all(b"\0" * SHORTEST not in part for part in parts if isinstance(part, bytes))


def test_where_data_begins_behind_a_hole(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("w+b", buffering=0) as file:
        file.truncate(1 << 30)
        if next_data(file.fileno(), 0) == 0:
            pytest.skip("a file system without holes")
        assert next_data(file.fileno(), 0) is None
        os.pwrite(file.fileno(), b"text", 1 << 29)
        found = next_data(file.fileno(), 100)
        assert found is not None
        assert (1 << 29) - (1 << 16) <= found <= 1 << 29
        assert next_data(file.fileno(), (1 << 29) + 1) == (1 << 29) + 1
