import gc
from collections.abc import Iterator

import pytest

from streams.runtimes.faust_app import GARBAGE


class Cycle:
    alive = 0

    def __init__(self) -> None:
        Cycle.alive += 1
        self.itself = self

    def __del__(self) -> None:
        Cycle.alive -= 1


@pytest.fixture
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*GARBAGE)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("thresholds")
def test_cycles_do_not_pile_up_between_two_looks_of_the_collector() -> None:
    most = 0
    for _ in range(100_000):
        Cycle()
        most = max(most, Cycle.alive)
    assert most <= 2 * GARBAGE[0]


@pytest.mark.usefixtures("thresholds")
def test_objects_that_are_held_are_seldom_looked_at() -> None:
    before = gc.get_stats()[2]["collections"]
    held = [[number] for number in range(300_000)]
    assert len(held) == 300_000
    assert gc.get_stats()[2]["collections"] - before <= 1
