"""Which lines of a stream a model is shown."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from processors.diagnose.failure_question.window import LINES, select
from processors.prompts.quoting import NumberedLine


def numbered(texts: Sequence[str]) -> list[NumberedLine]:
    return [NumberedLine(number, text) for number, text in enumerate(texts, start=1)]


def words(number: int) -> str:
    return (
        "abcdefghij"[number % 10]
        + "klmnopqrst"[number // 10 % 10]
        + "uvwxyzUVWX"[number // 100 % 10]
        + "gh"[number // 1000]
    )


LOG = [words(number) for number in range(2000)]


def numbers(lines: Sequence[NumberedLine]) -> list[int]:
    return [each.number for each in lines]


def test_candidates_come_with_their_surroundings_and_the_end_is_shown() -> None:
    shown = numbers(select(numbered(LOG), [900, 300]))
    assert {*range(861, 913), *range(292, 305), *range(1941, 2001)} <= set(shown)
    assert len(shown) == LINES


def test_first_error_is_shown_though_no_rule_names_it() -> None:
    lines = [*LOG]
    lines[50] = "something failed"
    assert {47, 51, 59} <= set(numbers(select(numbered(lines), [900])))


def test_of_repeated_lines_the_first_and_last_are_shown_and_candidates_always() -> None:
    shown = select(numbered([f"step {number}" for number in range(2000)] + ["the end"]), [1500])
    assert numbers(shown) == [1, 2, 1500, 2000, 2001]


def test_candidate_and_end_are_shown_where_there_is_little_room() -> None:
    shown = numbers(select(numbered([text + "x" * 5000 for text in LOG]), [900], characters=2000))
    assert {900, 2000} <= set(shown)
    assert len(shown) < 10


@given(
    st.lists(st.sampled_from(["a", "b", "step 1", "error", "x" * 900]), max_size=60),
    st.lists(st.integers(0, 70)),
    st.integers(1, 30),
)
def test_shown_lines_are_lines_of_the_log_in_order(texts: list[str], roots: list[int], most: int) -> None:
    lines = numbered(texts)
    shown = select(lines, roots, most, 3000)
    assert numbers(shown) == sorted(set(numbers(shown)))
    assert len(shown) <= most
    assert set(shown) <= set(lines)
    assert bool(shown) == bool(lines)
