"""The policies for spot jobs, each against a case worked out by hand."""

from collections.abc import Sequence

import pytest

from schedmate.simulate.policies.spot.chronus import Chronus
from schedmate.simulate.policies.spot.fgd import Fgd
from schedmate.simulate.policies.spot.lyra import Lyra
from schedmate.simulate.policies.spot.managed import ClusterView, Managed, PodRequest
from schedmate.simulate.policies.spot.state import Demand
from schedmate.simulate.policies.spot.yarn import YarnCs
from schedmate.simulate.simulation import Policy

from .running import job, run, spot


def evicted(policy: Policy, jobs: Sequence[object], nodes: Sequence[int]) -> set[str]:
    return {name for name, each in run(jobs, policy, nodes).items() if each.evictions}  # type: ignore[arg-type]


def test_yarn_evicts_the_youngest() -> None:
    jobs = [spot("old", 0, 900), spot("young", 100, 900), job("high", 200, 50)]
    assert evicted(YarnCs(), jobs, [2]) == {"young"}


def test_yarn_evicts_no_more_than_is_needed_and_where_the_fewest_must_go() -> None:
    # Node 0 has two spot jobs of 1 GPU, node 1 one of 2: a pod of 2 GPUs costs one job there.
    jobs = [spot("a", 0, 900), spot("b", 0, 900), spot("wide", 1, 900, 2), job("high", 200, 50, 2)]
    assert evicted(YarnCs(), jobs, [2, 2]) == {"wide"}


def test_yarn_stops_a_queue_at_the_first_job_that_does_not_fit() -> None:
    jobs = [spot("running", 0, 100, 1), spot("wide", 1, 10, 2), spot("small", 2, 10, 1)]
    assert run(jobs, YarnCs(), [2])["small"].first_start == 110


def test_nobody_is_evicted_where_that_does_not_help() -> None:
    jobs = [job("high", 0, 100, 1), spot("low", 0, 200, 1), job("wide", 10, 10, 2)]
    runs = run(jobs, YarnCs(grace_s=0), [2])
    assert runs["wide"].first_start == 100  # once `high` is gone, `low` goes too
    assert runs["low"].evictions == 1


def test_a_gang_uses_what_its_victims_leave_on_other_nodes() -> None:
    # The victim has both nodes; one eviction makes room for both pods.
    jobs = [spot("both", 0, 900, 2, pods=2), job("gang", 10, 50, 2, pods=2)]
    runs = run(jobs, YarnCs(grace_s=0), [2, 2])
    assert (runs["gang"].first_start, runs["both"].evictions) == (10, 1)


def test_chronus_ends_leases_at_their_end_and_loses_nothing() -> None:
    jobs = [spot("low", 0, 1000, checkpoint_every_s=float("inf")), job("high", 400, 50)]
    runs = run(jobs, Chronus(), [1])
    assert (runs["high"].first_start, runs["high"].ended) == (600, 650)
    assert (runs["low"].lost, runs["low"].ended) == (0, 1050)
    # Where nobody saves for the end of a lease, the 600 s are lost.
    unsaved = run(jobs, Chronus(saves=False), [1])
    assert (unsaved["low"].lost, unsaved["low"].ended) == (600, 1650)


def test_lyra_lends_idle_nodes_whole() -> None:
    # Node 0 has a high-priority job, so that the spot job goes to node 1, though node 0 has room and fits better.
    jobs = [job("high", 0, 500, 1), spot("low", 1, 100, 1), spot("second", 2, 100, 8)]
    runs = run(jobs, Lyra(), [4, 8])
    assert (runs["low"].first_start, runs["second"].first_start) == (1, 101)


def test_lyra_takes_back_the_node_that_costs_least() -> None:
    # Node 0 has half of `wide`, and node 1 the other half beside nothing; node 2 has two jobs of its own. Half a job is cheapest.
    jobs = [
        spot("wide", 0, 900, 4, pods=2),
        spot("a", 1, 900, 2),
        spot("b", 1, 900, 2),
        job("high", 50, 20, 4),
    ]
    assert evicted(Lyra(), jobs, [4, 4, 4]) == {"wide"}


def test_fgd_goes_where_it_fragments_least() -> None:
    # Pods of 1 and 3 GPUs were seen. Node 0 has 3 free, node 1 has 4. On node 0 a pod of 1 leaves 2 that a pod of 3 cannot use;
    # on node 1 it leaves 3, which all can. Best fit takes node 0.
    jobs = [
        job("fill", 0, 900, 1),
        job("three", 1, 5, 3),
        job("one", 10, 5, 1),
        job("check", 11, 5, 3),
        job("last", 12, 5, 3),
    ]
    runs = run(jobs, Fgd(), [4, 4])
    assert (runs["check"].first_start, runs["last"].first_start) == (11, 12)
    best_fit = run(jobs, YarnCs(), [4, 4])
    assert (best_fit["check"].first_start, best_fit["last"].first_start) == (11, 15)


class Cautious:
    """A spot manager with a fixed quota, which evicts all jobs of the first node with spot jobs."""

    evict_every_s = 0.0

    def __init__(self, quota: float) -> None:
        self._quota = quota
        self.views: list[ClusterView] = []
        self.asked_at: list[float] = []

    def order(self, request: PodRequest, submit_s: float) -> tuple[float, ...]:
        return (-request.gpus, submit_s)

    def quota(self, view: ClusterView) -> float:
        self.asked_at.append(view.now)
        return self._quota

    def choose(self, view: ClusterView, request: PodRequest) -> int | None:
        return next((node.index for node in view.nodes() if node.idle >= request.gpus), None)

    def evictions(self, view: ClusterView, request: PodRequest) -> tuple[list[str], list[int]] | None:
        for index in view.nodes_with_spot():
            node = view.node(index)
            if node.idle + node.spot_gpus >= request.gpus:
                return [each.job_id for each in node.spot], [index]
        return None


def test_a_manager_keeps_spot_jobs_within_its_quota_and_sorts_the_queue() -> None:
    jobs = [spot("small", 0, 1000, 1), spot("wide", 0, 400, 2)]
    manager = Cautious(2)
    runs = run(jobs, Managed(manager), [8])
    assert (runs["wide"].first_start, runs["small"].first_start) == (0, 400)
    assert manager.asked_at == [0, 300, 600, 1400]  # every 5 minutes while someone waits, else when something happens


def test_a_manager_evicts() -> None:
    runs = run([spot("low", 0, 100), job("high", 40, 10)], Managed(Cautious(8), grace_s=0), [1])
    assert (runs["high"].first_start, runs["low"].evictions) == (40, 1)


def test_a_manager_sees_the_cluster_as_it_is() -> None:
    class Looks(Cautious):
        def evictions(self, view: ClusterView, request: PodRequest) -> tuple[list[str], list[int]] | None:
            node = view.node(0)
            assert (node.idle, node.hp_gpus, node.spot_gpus) == (1, 4, 3)
            assert (view.capacity, view.idle, view.spot_gpus) == (8, 1, 3)
            [low] = node.spot
            assert (low.job_id, low.gpus, low.started_s, low.unsaved_s) == ("low", {0: 3}, 5, 25)
            assert request == PodRequest("late", 1, 2, "", spot=False)
            return super().evictions(view, request)

    jobs = [job("high", 0, 500, 4), spot("low", 5, 300, 3, checkpoint_every_s=30), job("late", 60, 10, 2)]
    assert run(jobs, Managed(Looks(8)), [8])["low"].evictions == 1


def test_demand_is_the_peak_of_each_hour() -> None:
    demand = Demand()
    demand.change(10, 4)
    demand.change(3000, 4)
    demand.change(3500, -6)
    demand.change(3 * 3600 + 5, 3)
    assert demand.past_peaks(4 * 3600, 5) == [0, 8, 2, 2, 5]


@pytest.mark.parametrize("policy", [YarnCs, Chronus, Lyra, Fgd])
def test_shares_of_a_gpu_go_together(policy: type[YarnCs]) -> None:
    jobs = [spot("a", 0, 50, 0.5), spot("b", 0, 50, 0.5), job("c", 0, 50, 1)]
    assert {each.first_start for each in run(jobs, policy(), [2]).values()} == {0}
