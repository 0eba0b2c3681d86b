"""An API server that goes away in the middle of a drain; no control plane is needed."""

from typing import Any, cast

import msgspec
import pytest

pytest.importorskip("kubernetes")

from scheduler_bridge.actuators import SchedulerAway
from scheduler_bridge.actuators.kubernetes import KubernetesActuator
from scheduler_clients.kubernetes import KubernetesClient, KubernetesUnavailable, Node, Pod

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
