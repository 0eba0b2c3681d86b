"""An API server that goes away in the middle of a drain; no control plane is needed."""

from typing import Any, cast

import msgspec
import pytest

pytest.importorskip("kubernetes")

from scheduler_bridge.schedulers import SchedulerAway, SchedulerNodeState
from scheduler_bridge.schedulers.kubernetes.actuator import KubernetesActuator
from scheduler_bridge.schedulers.kubernetes.actuator.nodes import node_view
from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient
from scheduler_bridge.schedulers.kubernetes.client.errors import KubernetesUnavailable
from scheduler_bridge.schedulers.kubernetes.client.objects import Node, Pod
from tests.scheduler_bridge.schedulers.kubernetes.kubernetes_objects import node

KEY = "drain/0123456789abcdef"


class Cluster:
    """One node, and an API server that answers until a node was changed."""

    def __init__(self) -> None:
        self.raw: dict[str, Any] = {"metadata": {"name": "n1", "uid": "u"}, "spec": {}, "status": {}}

    def node(self, name: str) -> Node:
        return msgspec.convert(self.raw, Node)

    def patch_node(self, node: Node, patch: dict[str, Any]) -> Node:
        self.raw["metadata"] |= patch["metadata"]
        self.raw["spec"] |= patch["spec"]
        return self.node("n1")

    def pods_on(self, node: str) -> list[Pod]:
        raise KubernetesUnavailable("an answer", "none", "it is asked again")

    def tell(self, *_: object) -> None:
        raise KubernetesUnavailable("an answer", "none", "it is asked again")


def test_the_bridge_waits_for_a_server_that_went_away_after_the_cordon() -> None:
    cluster = Cluster()
    with pytest.raises(SchedulerAway):
        KubernetesActuator(cast(KubernetesClient, cluster)).drain("n1", "Xid 79", KEY)
    assert cluster.raw["spec"]["unschedulable"], "it is drained, as the next look will show"


@pytest.mark.parametrize(
    ("taint", "effect", "gpus", "state"),
    [
        ("node-role.kubernetes.io/control-plane", "NoSchedule", 0, SchedulerNodeState.DOWN),
        ("node-role.kubernetes.io/control-plane", "NoSchedule", 8, SchedulerNodeState.UP),
        ("node-role.kubernetes.io/control-plane", "PreferNoSchedule", 0, SchedulerNodeState.UP),
        ("ToBeDeletedByClusterAutoscaler", "NoSchedule", 8, SchedulerNodeState.DOWN),
        ("nvidia.com/gpu", "NoSchedule", 8, SchedulerNodeState.UP),
    ],
)
def test_nodes_that_are_no_place_for_jobs_are_not_what_is_left(
    taint: str, effect: str, gpus: int, state: SchedulerNodeState
) -> None:
    assert node_view(node("n1", gpus, [{"key": taint, "effect": effect}]), [], ()).state is state
