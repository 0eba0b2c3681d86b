import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_bridge.schedulers.slurm.actuator.queue import next_tasks


@pytest.mark.parametrize(
    ("array", "running", "tasks"),
    [
        ("4711_1-3", 0, [1, 2, 3]),
        ("4711_1-9:4", 5, [1, 5, 9]),
        ("4711_4-5,21-22,40", 0, [4, 5, 21, 22, 40]),
        ("4711_4-40%5", 3, [4, 5]),
        ("4711_4-40%5", 5, []),
        ("4711_4-40%5", 6, []),
        ("4711_40%5", 0, [40]),
        ("4711_1,3,5,...", 0, [1, 3, 5]),
        ("4711_0-999999999:0", 0, list(range(6))),
    ],
)
def test_the_tasks_that_may_start_next(array: str, running: int, tasks: list[int]) -> None:
    assert next_tasks(array, running, 6) == [f"4711_{task}" for task in tasks]


@given(st.text("0123456789-:,%._[]x"), st.integers(0, 9), st.integers(0, 9))
def test_whatever_is_listed_gives_no_more_than_asked_for(listed: str, running: int, most: int) -> None:
    tasks = next_tasks(f"1_{listed}", running, most)
    assert len(tasks) <= most
    assert all(task.startswith("1_") and task[2:].isdecimal() for task in tasks)
