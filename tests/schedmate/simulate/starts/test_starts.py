"""When jobs that wait start."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.simulate.starts import Lasting, NodeRoom, Present, Running, Waiting, play, start_ranges


def exactly(seconds: float, limit: float = math.inf) -> Lasting:
    return Lasting(expected=seconds, low=seconds * 0.999999, high=seconds * 1.000001, limit=limit)


def node(gpus: float = 8) -> NodeRoom:
    return NodeRoom("n", ("p",), np.array([64, 512_000, gpus]))


def running(name: str, gpus: float, seconds: float, at: int = 0, limit: float = math.inf) -> Running:
    return Running(name, {at: np.array([1, 1, gpus])}, exactly(seconds, limit))


def waiting(
    name: str,
    gpus: float,
    seconds: float = 100,
    *,
    nodes: int = 1,
    of: int = 1,
    limit: float = math.inf,
    after: float = 0.0,
) -> Waiting:
    return Waiting(name, np.array([1, 1, gpus]), nodes, np.arange(of), exactly(seconds, limit), after)


def test_a_job_starts_when_what_it_needs_is_free() -> None:
    present = Present([node()], [running("a", 4, 100), running("b", 4, 300)], [waiting("c", 8), waiting("d", 8)])
    found = {each.job: each.expected for each in start_ranges(present, futures=9)}
    assert found == pytest.approx({"c": 300, "d": 400}, rel=1e-3)


def test_a_small_job_goes_first_only_where_it_delays_nobody() -> None:
    busy = [running("a", 6, 1000, limit=1000)]
    short, long = waiting("short", 2, 100, limit=200), waiting("long", 2, 100, limit=2000)
    found = play(Present([node()], busy, [waiting("first", 8), short, long]), np.random.default_rng(0))
    assert found["short"] == 0
    assert found["long"] > found["first"] > 0, "its limit would allow it to be in the way"


def test_a_gang_starts_whole() -> None:
    present = Present(
        [node(), node()],
        [running("a", 8, 500, at=1, limit=1000)],
        [waiting("gang", 8, nodes=2, of=2), waiting("one", 8, of=2)],
    )
    found = play(present, np.random.default_rng(0))
    assert found["gang"] == pytest.approx(500, rel=1e-3)
    assert found["one"] == pytest.approx(600, rel=1e-3), "without a limit it could be in the gang's way"


def test_who_asks_for_more_than_there_is_never_starts_and_stands_in_nobodys_way() -> None:
    (huge, small) = start_ranges(Present([node()], [], [waiting("huge", 9), waiting("small", 1)]), futures=5)
    assert (huge.chance, huge.expected) == (0, math.inf)
    assert (small.chance, small.expected) == (1, 0)


def test_who_is_held_waits_and_who_begins_later_begins_then() -> None:
    present = Present([node()], [], [waiting("held", 1, after=math.inf), waiting("later", 1, after=50)])
    assert play(present, np.random.default_rng(0)) == {"held": math.inf, "later": 50}


def test_what_is_not_known_makes_the_range_wide_and_limits_bound_it() -> None:
    open_end = Running("a", {0: np.array([1, 1, 8])}, Lasting(limit=3600, elapsed=600))
    (found,) = start_ranges(Present([node()], [open_end], [waiting("b", 8)]), futures=400)
    assert found.low < 120
    assert found.high == pytest.approx(3000)
    assert 300 < found.expected < 1200


def test_the_ranges_hold_what_comes() -> None:
    """Of futures drawn apart from them, nine in ten lie inside."""
    jobs = [Running(f"r{number}", {0: np.array([1, 1, 1])}, Lasting(600, 200, 1800)) for number in range(8)]
    present = Present([node()], jobs, [waiting(f"w{number}", 2 + number % 3, 300) for number in range(6)])
    ranges = {each.job: each for each in start_ranges(present, futures=400)}
    random = np.random.default_rng(99)
    inside = [
        ranges[job].low <= at <= ranges[job].high for _ in range(200) for job, at in play(present, random).items()
    ]
    assert 0.86 <= np.mean(inside) <= 0.94


@given(
    st.lists(st.tuples(st.integers(1, 8), st.integers(1, 2), st.integers(1, 1000)), min_size=1, max_size=12),
    st.integers(0, 1000),
)
def test_no_gpu_is_given_twice(jobs: list[tuple[int, int, int]], seed: int) -> None:
    queue = [waiting(str(place), gpus, seconds, nodes=nodes, of=2) for place, (gpus, nodes, seconds) in enumerate(jobs)]
    started = play(Present([node(), node()], [], queue), np.random.default_rng(seed))
    assert all(math.isfinite(at) for at in started.values())
    for now in started.values():
        held = sum(
            gpus * nodes
            for place, (gpus, nodes, seconds) in enumerate(jobs)
            if started[str(place)] <= now < started[str(place)] + seconds * 0.99
        )
        assert held <= 16
