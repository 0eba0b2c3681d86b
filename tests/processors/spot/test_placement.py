from collections import Counter

from hypothesis import given

from processors.spot.cluster import NodeState, PodRequest, needed
from processors.spot.placement import choose_node, place
from processors.spot.settings import GfsSettings

from .cases import clusters, requests

SETTINGS = GfsSettings()


def chosen(nodes: list[NodeState], request: PodRequest) -> int | None:
    node = choose_node(nodes, request, SETTINGS)
    return None if node is None else node.index


def test_the_fullest_node_that_suffices() -> None:
    nodes = [NodeState(index=0, idle=8), NodeState(index=1, idle=3, hp_gpus=5), NodeState(index=2, idle=1, hp_gpus=7)]
    assert chosen(nodes, PodRequest(1, 2)) == 1
    assert chosen(nodes, PodRequest(1, 1)) == 2
    assert chosen(nodes, PodRequest(1, 0.5)) == 2
    assert chosen([*nodes, NodeState(index=3, gpus=4, idle=1, hp_gpus=3)], PodRequest(1, 1)) == 2  # 7 of 8, not 3 of 4


def test_classes_keep_together_on_nodes_that_are_as_full() -> None:
    nodes = [NodeState(index=0, idle=4, hp_gpus=4), NodeState(index=1, idle=4, spot_gpus=4)]
    assert chosen(nodes, PodRequest(1, 1, spot=False)) == 0
    assert chosen(nodes, PodRequest(1, 1, spot=True)) == 1


def test_evictions_decide_last() -> None:
    nodes = [NodeState(index=0, idle=8, evictions_1h=1, evictions_24h=1), NodeState(index=1, idle=8)]
    assert chosen(nodes, PodRequest(1, 1, spot=False)) == 0
    assert chosen(nodes, PodRequest(1, 1, spot=True)) == 1


def test_an_open_breaker_keeps_spot_jobs_off() -> None:
    node = NodeState(index=0, idle=8, evictions_1h=9, evictions_24h=9)
    assert chosen([node], PodRequest(1, 1, spot=True)) is None
    assert chosen([node], PodRequest(1, 0.5, spot=True)) is None
    assert chosen([node], PodRequest(1, 1, spot=False)) == 0


def test_other_models_are_left_alone() -> None:
    assert chosen([NodeState(index=0, idle=8, gpu_type="A10")], PodRequest(1, 1, "H100")) is None


def test_gangs_start_whole_or_not_at_all() -> None:
    nodes = [NodeState(index=0, idle=8), NodeState(index=1, idle=4, hp_gpus=4)]
    assert place(nodes, PodRequest(3, 4), SETTINGS) == [1, 0, 0]
    assert place(nodes, PodRequest(4, 4), SETTINGS) is None


@given(clusters(), requests(spot=True))
def test_no_gpu_is_given_twice(nodes: list[NodeState], request: PodRequest) -> None:
    found = place(nodes, request, SETTINGS)
    room = sum(node.idle // needed(request) for node in nodes)
    assert (found is not None) == (room >= request.pods)
    for index, pods in Counter(found).items():
        assert nodes[index].idle >= pods * needed(request)
