"""Words for a person."""

import pytest

from schedmate_records import counted


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 lines"), (1, "1 line"), (1200, "1,200 lines"), (1.0, "1 line"), (0.5, "0.5 lines")]
)
def test_a_count_is_said_as_a_person_says_it(number: float, words: str) -> None:
    assert counted(number, "line") == words
