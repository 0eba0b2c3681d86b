import math

from hypothesis import given
from hypothesis import strategies as st

from processors.diagnose.locate import locate


@given(st.integers(1, 200_000), st.data())
def test_a_sorted_log_is_searched_in_logarithmic_reads(chunks: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, chunks - 1))
    found = locate(chunks, lambda index: index >= first)
    assert found.chunk == first
    assert not found.linear
    assert found.reads <= 2 * math.log2(chunks) + 8


@given(st.integers(40, 20_000), st.integers(1, 10), st.data())
def test_normal_lines_after_the_error_are_galloped_over(chunks: int, width: int, data: st.DataObject) -> None:
    width = max(width, chunks // 3)
    first = data.draw(st.integers(max(0, chunks - 2 * width), chunks - width))
    found = locate(chunks, lambda index: first <= index < first + width)
    assert found.chunk == first


@given(st.lists(st.booleans(), max_size=300))
def test_any_log_gives_an_error_chunk_or_none(errors: list[bool]) -> None:
    seen: list[int] = []

    def read(index: int) -> bool:
        seen.append(index)
        return errors[index]

    found = locate(len(errors), read)
    assert len(seen) == len(set(seen)) == found.reads
    if found.chunk is None:
        assert not any(errors)
        assert found.linear
    else:
        assert errors[found.chunk]
        assert not any(errors[max(0, found.chunk - 3) : found.chunk])
    if found.linear and found.chunk is not None:
        assert found.chunk == errors.index(True)


def test_a_benign_error_far_before_is_seen_and_said() -> None:
    errors = [index == 0 or index >= 900 for index in range(1000)]
    found = locate(1000, errors.__getitem__)
    assert (found.chunk, found.linear) == (0, True)
