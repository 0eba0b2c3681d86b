from collections import Counter

import pytest
from hypothesis import given

from processors.spot.cluster import NodeState, PodRequest, RunningSpotJob, needed
from processors.spot.manager import order
from processors.spot.preemption import SpotHistory, cost, preempt, waste
from processors.spot.settings import GfsSettings

from .cases import cluster, clusters, requests

SETTINGS = GfsSettings(waste_weight=0.5)
HISTORY = SpotHistory(ended=90, evicted=10, gpu_seconds=16 * 3600.0)


def job(name: str, gpus: dict[int, float], unsaved_s: float) -> RunningSpotJob:
    return RunningSpotJob(name, gpus, unsaved_s)


def test_waste_and_cost_by_hand() -> None:
    gang = job("gang", {0: 2, 1: 2}, 360)
    assert waste(gang) == 1440  # 4 GPUs for 360 s
    # (10 + 1) / (90 + 10 + 1) + 0.5 x 1440 / 57600
    assert cost([gang], HISTORY, SETTINGS) == pytest.approx(11 / 101 + 0.0125)
    assert cost([], SpotHistory(0, 0, 0.0), SETTINGS) == 0


def test_the_most_wasteful_stay_where_others_suffice() -> None:
    jobs = [job("old", {0: 2}, 3000), job("saved", {0: 2}, 10), job("young", {0: 4}, 100)]
    # Waste 6000, 20 and 400, and 4 GPUs may stay. `old` does; with `young` that would be 6; so it goes, and `saved` stays.
    plan = preempt(cluster(jobs, [0]), PodRequest(1, 4), HISTORY, SETTINGS)
    assert plan is not None
    assert plan.victims == ("young",)


def test_the_node_of_least_cost_is_taken() -> None:
    jobs = [job("long", {0: 8}, 3000), job("fresh", {1: 8}, 5)]
    plan = preempt(cluster(jobs, [0, 0]), PodRequest(1, 8), HISTORY, SETTINGS)
    assert plan is not None
    assert (plan.victims, plan.nodes) == (("fresh",), (1,))


def test_one_eviction_is_better_than_two_of_as_much_waste() -> None:
    jobs = [job("a", {0: 4}, 10), job("b", {0: 4}, 10), job("c", {1: 8}, 10)]
    plan = preempt(cluster(jobs, [0, 0]), PodRequest(1, 8), HISTORY, SETTINGS)
    assert plan is not None
    assert plan.victims == ("c",)


def test_what_a_gang_leaves_elsewhere_serves_the_next_pod() -> None:
    jobs = [job("gang", {0: 8, 1: 8}, 500), job("single", {2: 8}, 500)]
    plan = preempt(cluster(jobs, [0, 0, 0]), PodRequest(3, 8), HISTORY, SETTINGS)
    assert plan is not None
    # `single` costs least, then `gang` goes for node 0, which leaves node 1 for nothing.
    assert (plan.victims, plan.nodes) == (("single", "gang"), (2, 0, 1))


def test_where_evictions_do_not_help_nobody_goes() -> None:
    jobs = [job("a", {0: 2}, 10)]
    assert preempt(cluster(jobs, [1], [5]), PodRequest(1, 8), HISTORY, SETTINGS) is None
    assert preempt(cluster(jobs, [1], [5]), PodRequest(1, 1, "H100"), HISTORY, SETTINGS) is None


@given(clusters(), requests(spot=False))
def test_plans_fit_and_nobody_goes_in_vain(nodes: list[NodeState], request: PodRequest) -> None:
    plan = preempt(nodes, request, HISTORY, SETTINGS)
    jobs = {each.job_id: each for node in nodes for each in node.spot}
    if plan is None:
        room = sum((node.idle + int(node.spot_gpus)) // needed(request) for node in nodes)
        assert room < request.pods
        return
    assert len(plan.nodes) == request.pods
    assert len(set(plan.victims)) == len(plan.victims)
    assert _fits(nodes, plan.nodes, [jobs[name] for name in plan.victims], needed(request))
    for spared in plan.victims:
        rest = [jobs[name] for name in plan.victims if name != spared]
        assert not _fits(nodes, plan.nodes, rest, needed(request))


def test_large_jobs_come_first_then_those_submitted_first() -> None:
    waiting = [(PodRequest(1, 1), 0.0), (PodRequest(1, 8), 9.0), (PodRequest(2, 8), 10.0), (PodRequest(1, 8), 5.0)]
    ranked = sorted(waiting, key=lambda each: order(*each))
    assert [submit for _, submit in ranked] == [10, 5, 9, 0]


def _fits(nodes: list[NodeState], chosen: tuple[int, ...], victims: list[RunningSpotJob], need: int) -> bool:
    freed = Counter[int]()
    for each in victims:
        for index, gpus in each.gpus.items():
            freed[index] += int(gpus)
    return all(nodes[index].idle + freed[index] >= pods * need for index, pods in Counter(chosen).items())
