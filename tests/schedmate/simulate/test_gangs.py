"""Jobs that exceed a node become gangs."""

from schedmate.simulate.cluster import NodeSpec
from schedmate.simulate.gangs import as_gangs
from schedmate.simulate.policies.spot.yarn import YarnCs
from schedmate.simulate.replay import Scenario, replay

from .running import job


def test_pods_fill_nodes_evenly_and_others_stay() -> None:
    nodes = [NodeSpec(gpus=8)] * 4
    made = as_gangs(
        [job("large", 0, 1, 32), job("odd", 0, 1, 12), job("whole", 0, 1, 8), job("share", 0, 1, 0.5)], nodes
    )
    assert [(each.pods, each.gpus) for each in made] == [(4, 8), (3, 4), (1, 8), (1, 0.5)]


def test_a_job_larger_than_a_node_starts_under_a_policy_of_pods() -> None:
    nodes = [NodeSpec(gpus=8)] * 2
    jobs = as_gangs([job("large", 0, 10, 16), job("next", 1, 10, 12)], nodes)
    assert [run.first_start for run in replay(Scenario(jobs=jobs, nodes=nodes), YarnCs).runs] == [0, 10]
