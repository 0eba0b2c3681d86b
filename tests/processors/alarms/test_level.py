"""A level, and when a number has left it."""

from hypothesis import given
from hypothesis import strategies as st

from processors.alarms.level import KEPT, Crossing, Level

LEAST, ROW = 4, 3


def taken(values: list[float], level: Level | None = None) -> list[Crossing]:
    level = level or Level()
    return [
        level.add_value(value, float(index), None, lambda kept: 2 * max(kept), least=LEAST, row=ROW)
        for index, value in enumerate(values)
    ]


def test_three_in_a_row_leave_the_level_and_one_comes_back() -> None:
    level = Level()
    changes = taken([1, 1, 1, 1, 5, 5, 5, 5, 1], level)
    assert [index for index, change in enumerate(changes) if change is Crossing.ABOVE] == [6]
    assert [index for index, change in enumerate(changes) if change is Crossing.BACK] == [8]
    assert level.since == 4.0
    assert level.usual == 1


def test_a_single_odd_number_says_nothing() -> None:
    assert set(taken([1, 1, 1, 1, 9, 1, 9, 9, 1])) == {Crossing.NONE}


def test_too_few_numbers_make_no_level() -> None:
    assert set(taken([1, 1, 1, 100, 100, 100])) == {Crossing.NONE}


def test_a_new_level_is_taken_after_a_while() -> None:
    level = Level()
    changes = taken([1.0] * LEAST + [5.0] * (KEPT + LEAST), level)
    assert changes.index(Crossing.BACK) == LEAST + KEPT - 1
    assert level.usual == 5.0


@given(st.lists(st.floats(0.1, 100)))
def test_it_leaves_and_comes_back_by_turns(values: list[float]) -> None:
    level = Level()
    turns = [change for change in taken(values, level) if change is not Crossing.NONE]
    assert turns == [Crossing.ABOVE, Crossing.BACK] * (len(turns) // 2) + [Crossing.ABOVE] * (len(turns) % 2)
    assert len(level.kept) <= KEPT
