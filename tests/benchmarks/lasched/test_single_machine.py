"""Policies of one machine: Figure 1 of ATLAS, a slow simulation that cannot be wrong in the same way, and what theory says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lasched.single_machine import (
    Times,
    least_attained_service,
    non_preemptive,
    preemptive,
    preferential_round_robin,
)
from benchmarks.lasched.stretch import feasible, optimal_stretch, stretches

TICK = 0.01
"""Seconds that the slow simulation goes on at once."""

RELEASE, SIZE, PREDICTED = (np.array(row, dtype=float) for row in ([0, 0, 1, 2], [4, 10, 1, 3], [3, 11, 2, 1]))


@pytest.mark.parametrize(
    ("done", "total"),
    [
        (preemptive(RELEASE, SIZE, SIZE, falls=True), 33),
        (non_preemptive(RELEASE, SIZE, PREDICTED), 37),
        (preferential_round_robin(RELEASE, SIZE, PREDICTED, 0.0), 46.3),
        (non_preemptive(RELEASE, SIZE, RELEASE), 51),
    ],
    ids=["SRPT", "SPJF", "RR", "FIFO"],
)
def test_the_toy_example_of_figure_1(done: Times, total: float) -> None:
    assert done.sum() == pytest.approx(total, abs=0.05)


@st.composite
def instances(draw: st.DrawFn) -> tuple[Times, Times, Times]:
    count = draw(st.integers(1, 7))
    release = [draw(st.integers(0, 12)) for _ in range(count)]
    size = [draw(st.integers(1, 8)) for _ in range(count)]
    guess = [draw(st.integers(1, 8)) for _ in range(count)]
    return tuple(np.array(row, dtype=float) for row in (release, size, guess))  # type: ignore[return-value]


@given(instances())
def test_every_policy_works_as_long_as_there_is_work(instance: tuple[Times, Times, Times]) -> None:
    release, size, guess = instance
    ends = [done.max() for done in _all(release, size, guess).values()]
    assert ends == pytest.approx([ends[0]] * len(ends))
    for name, done in _all(release, size, guess).items():
        assert np.all(done >= release + size - 1e-6), name


@given(instances())
def test_none_beats_srpt_in_total_nor_edf_at_the_optimal_stretch(instance: tuple[Times, Times, Times]) -> None:
    release, size, guess = instance
    policies, best = _all(release, size, guess), optimal_stretch(release, size)
    for name, done in policies.items():
        assert done.sum() >= policies["SRPT"].sum() - 1e-6, name
        assert stretches(release, size, done).max() >= best * (1 - 2e-4), name
    at_best = preemptive(release, size, release + best * size, falls=False)
    assert stretches(release, size, at_best).max() <= best + 1e-6
    assert feasible(release, size, best)


@settings(max_examples=25, deadline=None)
@given(instances(), st.sampled_from([0.0, 0.3, 0.7]))
def test_shared_machines_agree_with_a_slow_simulation(instance: tuple[Times, Times, Times], share: float) -> None:
    release, size, guess = instance
    late = (
        2 * TICK * (len(release) + 1)
    )  # each end wastes the rest of a tick, and another one where a sum of ticks falls short
    slow = _slowly(release, size, lambda active, _: _prr_rates(active, guess, share))
    assert preferential_round_robin(release, size, guess, share) == pytest.approx(slow, abs=late)
    slow = _slowly(
        release, size, lambda active, served: [float(one == min(served[active], key=float)) for one in served[active]]
    )
    assert least_attained_service(release, size) == pytest.approx(slow, abs=2 * late)


def test_one_machine_without_load_runs_each_job_at_once() -> None:
    release, size = np.array([0.0, 100.0, 200.0]), np.array([5.0, 6.0, 7.0])
    for name, done in _all(release, size, size).items():
        assert done == pytest.approx(release + size), name
    assert optimal_stretch(release, size) == 1.0


def _all(release: Times, size: Times, guess: Times) -> dict[str, Times]:
    return {
        "SRPT": preemptive(release, size, size, falls=True),
        "SPRPT": preemptive(release, size, guess, falls=True),
        "EDF": preemptive(release, size, release + 2 * guess, falls=False),
        "SJF": non_preemptive(release, size, size),
        "FIFO": non_preemptive(release, size, release),
        "RR": preferential_round_robin(release, size, guess, 0.0),
        "PRR": preferential_round_robin(release, size, guess, 0.7),
        "LAS": least_attained_service(release, size),
    }


def _prr_rates(active: list[int], guess: Times, share: float) -> list[float]:
    favourite = min(active, key=lambda job: (guess[job], active.index(job)))
    return [(1 - share) / len(active) + share * (job == favourite) for job in active]


def _slowly(release: Times, size: Times, rates: object, tick: float = TICK) -> Times:
    """Simulate in small steps; rates are made to add up to one."""
    served, done, now = np.zeros(len(size)), np.zeros(len(size)), 0.0
    order = [int(job) for job in np.argsort(release, kind="stable")]
    while (served < size - 1e-9).any():
        active = [job for job in order if release[job] <= now + 1e-9 and served[job] < size[job] - 1e-9]
        if active:
            given_rates = np.array(rates(active, served))  # type: ignore[operator]
            served[active] += tick * given_rates / given_rates.sum()
        now += tick
        for job in active:
            if served[job] >= size[job] - 1e-9:
                done[job] = now
    return done
