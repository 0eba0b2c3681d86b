"""The template reducer."""

from hypothesis import given
from hypothesis import strategies as st

from processors.grammar.extractor import DIGITS, LONGEST, templates

LINES = st.lists(st.text(max_size=80), min_size=1, max_size=20)


@given(LINES)
def test_a_chunk_and_its_lines_have_the_same_templates(lines: list[str]) -> None:
    assert templates(lines) == [templates([line])[0] for line in lines]


@given(LINES)
def test_a_template_is_its_own_template(lines: list[str]) -> None:
    once = templates(lines)
    assert templates(once) == once


@given(
    st.text("abc :=%|", max_size=40), st.lists(st.integers(0, 9), max_size=20), st.lists(st.integers(0, 9), max_size=20)
)
def test_only_digits_differ_within_a_template(words: str, some: list[int], others: list[int]) -> None:
    def printed(digits: list[int]) -> str:
        return "".join(f"{word}{digit}" for word, digit in zip(words.ljust(20), digits, strict=False))

    count = min(len(some), len(others))
    assert templates([printed(some[:count])]) == templates([printed(others[:count])])


def test_long_lines_share_what_is_kept_of_them() -> None:
    assert templates(["x" * 5000, "y"]) == ["x" * LONGEST, "y"]
    assert templates(["a\nb1"]) == ["a\nb1".translate(DIGITS)]
