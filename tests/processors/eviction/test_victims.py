"""Pods that share nodes, and GPUs of which several jobs have a part. Whole nodes: `tests/scheduler_bridge/preemption/test_victims.py`."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.eviction import Need, Share, least_loss, weigh


@dataclass(frozen=True)
class Machine:
    gpus: int
    cpus: float = 8
    memory: float = 100


def held(*gpus: int, part: float = 1.0, cpus: float = 0.0) -> Share:
    return Share(cpus=cpus, gpus=dict.fromkeys(gpus, part))


def test_pods_go_to_one_node_where_that_costs_less() -> None:
    jobs = {"a": {"n1": held(0, 1)}, "b": {"n1": held(2, 3)}, "c": {"n2": held(0, 1, 2, 3)}}
    nodes = {"n1": Machine(4), "n2": Machine(4)}
    losses = {"a": 1.0, "b": 2.0, "c": 9.0}
    pods = least_loss(Need(nodes=2, gpus=2, stacked=True), nodes, jobs, losses)
    assert pods
    assert (pods.nodes, pods.loss) == (("n1", "n1"), 3.0)
    assert pods.victims == {"a", "b"}
    apart = least_loss(Need(nodes=2, gpus=2), nodes, jobs, losses)
    assert apart
    assert apart.nodes == ("n1", "n2")
    assert apart.victims == {"a", "c"}


def test_more_pods_than_nodes_fit_only_where_they_may_share() -> None:
    nodes = {"n1": Machine(4)}
    assert least_loss(Need(nodes=2, gpus=2), nodes, {}, {}) is None
    assert least_loss(Need(nodes=2, gpus=2, stacked=True), nodes, {}, {}) is not None
    assert least_loss(Need(nodes=3, gpus=2, stacked=True), nodes, {}, {}) is None


def test_all_who_have_a_part_of_a_gpu_go_for_the_whole() -> None:
    jobs = {"x": {"n1": held(0, part=0.5)}, "y": {"n1": held(0, part=0.5)}, "z": {"n1": held(1)}}
    found = least_loss(Need(gpus=1), {"n1": Machine(2)}, jobs, {"x": 1.0, "y": 1.0, "z": 3.0})
    assert found
    assert found.victims == {"x", "y"}


def test_a_gpu_that_a_job_of_high_priority_shares_is_not_freed() -> None:
    jobs = {"spot": {"n1": held(0, part=0.5)}, "high": {"n1": held(0, part=0.5)}}
    assert least_loss(Need(gpus=1), {"n1": Machine(1)}, jobs, {"spot": 1.0}) is None


def test_parts_of_gpus_are_counted_pod_by_pod() -> None:
    jobs = {"a": {"n1": held(0, part=0.5)}, "b": {"n1": held(1, part=0.4)}}
    fits = least_loss(Need(nodes=2, gpus=0.5, stacked=True), {"n1": Machine(2)}, jobs, {"a": 5.0, "b": 1.0})
    assert fits
    assert not fits.victims
    three = least_loss(Need(nodes=3, gpus=0.5, stacked=True), {"n1": Machine(2)}, jobs, {"a": 5.0, "b": 1.0})
    assert three
    assert three.victims == {"b"}


def test_cpus_bind_as_gpus_do() -> None:
    jobs = {"a": {"n1": held(0, cpus=6)}, "b": {"n1": held(1, cpus=1)}}
    found = least_loss(Need(gpus=1, cpus=4), {"n1": Machine(4)}, jobs, {"a": 5.0, "b": 1.0})
    assert found
    assert found.victims == {"a"}


@given(
    st.lists(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 50)), max_size=4), min_size=1, max_size=5),
    st.integers(1, 4),
    st.integers(1, 5),
)
def test_the_nodes_of_least_loss_are_found_among_all(jobs: list[list[tuple[int, int]]], gpus: int, parts: int) -> None:
    """Each job is on one node, so that the best choice takes the nodes that cost least when each is asked alone."""
    places, losses = {}, {}
    for node, here in enumerate(jobs):
        free = list(range(4))
        for number, (size, loss) in enumerate(here):
            if size <= len(free):
                places[f"{node}-{number}"] = {f"n{node}": held(*(free.pop() for _ in range(size)))}
                losses[f"{node}-{number}"] = float(loss)
    nodes = {f"n{node}": Machine(4) for node in range(len(jobs))}
    alone = [least_loss(Need(gpus=gpus), {name: machine}, places, losses) for name, machine in nodes.items()]
    cheapest = sorted(each.loss for each in alone if each)
    found = least_loss(Need(nodes=parts, gpus=gpus), nodes, places, losses)
    assert (found.loss if found else None) == (sum(cheapest[:parts]) if parts <= len(cheapest) else None)


@pytest.mark.parametrize(
    ("unsaved_s", "gpus", "evictions", "weighed"),
    [(0, 1, 0, 3120), (80, 2, 0, 3400), (80, 2, 2, 4600), (30, 0, 0, 3150)],
)
def test_what_an_eviction_counts_by_hand(unsaved_s: float, gpus: float, evictions: int, weighed: float) -> None:
    assert weigh(unsaved_s, gpus, evictions) == weighed
