"""Who is evicted: enough, no more than needed, and those that lose least."""

import itertools
from collections.abc import Collection, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_bridge.preemption.policy import least_loss
from scheduler_bridge.schedulers import Need, Queue, RunningJob

from .queues import node, running

NAMES = ("n1", "n2", "n3")


def test_the_cheapest_place_is_taken_and_nobody_else_leaves() -> None:
    jobs = (
        running("a", {"n1": [0, 1]}),
        running("b", {"n1": [2]}),
        running("c", {"n1": [3]}),
        running("d", {"n2": range(4)}),
    )
    queue = Queue(running=jobs, nodes=(node("n1"), node("n2")))
    losses = {"a": 5.0, "b": 2.0, "c": 2.5, "d": 4.6}
    chosen = least_loss(Need(gpus=2), queue, ["n1", "n2"], losses)
    assert chosen
    assert (chosen.nodes, chosen.victims, chosen.loss) == (("n1",), {"b", "c"}, 4.5)
    assert least_loss(Need(gpus=2), queue, ["n2"], losses) == (
        chosen := least_loss(Need(gpus=3), queue, ["n2"], losses)
    )
    assert chosen
    assert chosen.victims == {"d"}
    assert least_loss(Need(gpus=2), queue, ["n2"], {"a": 1.0}) is None
    assert least_loss(Need(gpus=5), queue, ["n1", "n2"], losses) is None


def test_a_job_on_two_nodes_is_paid_for_once() -> None:
    jobs = (running("gang", {"n1": range(4), "n2": range(4)}), running("c", {"n3": range(4)}))
    queue = Queue(running=jobs, nodes=tuple(map(node, NAMES)))
    chosen = least_loss(Need(nodes=2, gpus=4), queue, NAMES, {"gang": 5.0, "c": 3.0})
    assert chosen
    # n3 is the cheapest node; but once the gang goes for the second one, c need not.
    assert "gang" in chosen.victims


def test_a_place_that_is_free_costs_nothing() -> None:
    queue = Queue(running=(running("a", {"n1": [0]}),), nodes=(node("n1"),))
    chosen = least_loss(Need(gpus=3), queue, ["n1"], {"a": 1.0})
    assert chosen
    assert not chosen.victims


@pytest.mark.parametrize(("gpus", "fits"), [(0.5, True), (0.75, False), (1.0, False), (3.5, False)])
def test_parts_of_two_gpus_are_no_gpu(gpus: float, fits: bool) -> None:
    jobs = tuple(running(f"{index}", {"n1": [index]}, part=0.5) for index in range(4))
    chosen = least_loss(Need(gpus=gpus), Queue(running=jobs, nodes=(node("n1"),)), ["n1"], dict.fromkeys("0123", 1.0))
    assert chosen
    assert (not chosen.victims) is fits


def test_required_nodes_and_exclusive_ones() -> None:
    jobs = (running("a", {"n1": [0]}), running("b", {"n2": [0]}))
    queue = Queue(running=jobs, nodes=(node("n1"), node("n2")))
    losses = {"a": 9.0, "b": 1.0}
    chosen = least_loss(Need(gpus=1, exclusive=True), queue, NAMES, losses)
    assert chosen
    assert chosen.victims == {"b"}
    chosen = least_loss(Need(gpus=1, exclusive=True, required=("n1",)), queue, NAMES, losses)
    assert chosen
    assert chosen.victims == {"a"}
    assert least_loss(Need(required=("n9",)), queue, NAMES, losses) is None


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Need, Queue, dict[str, float]]:
    """Full or half full nodes of four GPUs, with jobs on one node or two."""
    free = {name: list(range(4)) for name in NAMES}
    jobs: list[RunningJob] = []
    for number in range(draw(st.integers(1, 7))):
        places = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))
        size = draw(st.integers(1, 3))
        if all(len(free[name]) >= size for name in places):
            jobs.append(running(str(number), {name: [free[name].pop() for _ in range(size)] for name in places}))
    losses = {job.view.job: float(draw(st.integers(1, 50))) for job in jobs if draw(st.booleans())}
    need = Need(nodes=draw(st.integers(1, 3)), gpus=float(draw(st.integers(1, 4))))
    return need, Queue(running=tuple(jobs), nodes=tuple(map(node, NAMES))), losses


@given(clusters())
def test_enough_no_more_than_needed_and_the_best_on_one_node(made: tuple[Need, Queue, dict[str, float]]) -> None:
    need, queue, losses = made
    best = _best(need, queue, losses)
    chosen = least_loss(need, queue, NAMES, losses)
    assert (chosen is None) == (best is None)
    if chosen is None or best is None:
        return
    assert chosen.victims <= losses.keys()
    assert len(set(chosen.nodes)) == need.nodes
    assert _makes_room(need, queue, chosen.nodes, chosen.victims)
    for victim in chosen.victims:
        assert not _makes_room(need, queue, chosen.nodes, chosen.victims - {victim})
    if need.nodes == 1:
        assert chosen.loss == best


def _makes_room(need: Need, queue: Queue, nodes: Collection[str], gone: Collection[str]) -> bool:
    staying = [job for job in queue.running if job.view.job not in gone]
    held = {name: sum(len(job.held[name].gpus) for job in staying if name in job.held) for name in nodes}
    return all(4 - held[name] >= need.gpus for name in nodes)


def _best(need: Need, queue: Queue, losses: Mapping[str, float]) -> float | None:
    """Return the least loss of all sets of jobs and all places: what a choice that looks at everything would find."""
    sets = (gone for size in range(len(losses) + 1) for gone in itertools.combinations(losses, size))
    places = list(itertools.combinations(NAMES, need.nodes))
    possible = [
        sum(losses[job] for job in gone)
        for gone in sets
        if any(_makes_room(need, queue, nodes, gone) for nodes in places)
    ]
    return min(possible, default=None)
