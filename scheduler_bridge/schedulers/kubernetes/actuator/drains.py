"""Drains Kubernetes nodes, and returns them to service."""

from collections.abc import Callable

import msgspec

from schedmate_records import Action

from ....act_keys import add_key
from ...errors import ActuatorError, translated
from ...views import NodeView
from ..client.client import KubernetesClient
from ..client.errors import KubernetesConflict
from ..client.lineage import ACTS
from ..client.objects import Node, Taint
from .jobs import tell
from .nodes import DRAINED_BY, TAINT, drained_by, in_service, node_view, taints
from .settings import KubernetesLimits


class Drains:
    """Drains nodes and lets them return.

    Args:
        limits: Which labels name a node's pools.
    """

    def __init__(self, client: KubernetesClient, limits: KubernetesLimits) -> None:
        self._client = client
        self._limits = limits

    def view(self, node: Node) -> NodeView:
        """Return a node as the bridge sees it."""
        with translated():
            pods = [] if in_service(node) else self._client.pods_on(node.metadata.name)
        return node_view(node, pods, self._limits.pool_labels)

    def describe(self, node: str) -> str:
        """Return what Kubernetes shows of a node, and which pods are there. Of pods no more than that: their variables may hold secrets."""
        with translated():
            shown, pods = self._client.raw_node(node), self._client.pods_on(node)
        names = [f"{pod.metadata.namespace}/{pod.metadata.name} {pod.status.phase}" for pod in pods]
        return "\n".join([msgspec.json.format(msgspec.json.encode(shown)).decode(), "", *sorted(names), ""])

    def drain(self, node: str, reason: str, key: str) -> NodeView:
        """Cordon a node, and taint it so that the cordon is known for ours. What runs there goes on."""

        def drained(before: Node) -> dict[str, object]:
            if not in_service(before):
                came = f"{node} is {self.view(before).word}"
                raise ActuatorError("a node in service", came, "nothing was done")
            acts = add_key(before.metadata.annotations.get(ACTS, ""), key)
            notes = {ACTS: acts, DRAINED_BY: f"schedmate:{key} {reason}"}
            # One patch: never a cordon without its key.
            ours = Taint(key=TAINT, value=key.partition("/")[2], effect="NoSchedule")
            return {"metadata": {"annotations": notes}, "spec": {"unschedulable": True, "taints": taints(before, ours)}}

        seen = self._change(node, drained)
        if drained_by(seen) != key:
            raise ActuatorError(f"{node} drained", self.view(seen).word, f"see `kubectl describe node {node}`")
        tell(self._client, seen, Action.DRAIN, key)
        return self.view(seen)

    def undrain(self, node: str, key: str) -> NodeView:
        """Return a node to service that `drain` drained."""

        def returned(before: Node) -> dict[str, object]:
            if not drained_by(before):
                came = f"{node} is {self.view(before).word}"
                raise ActuatorError("a node that the bridge drained", came, "nothing was done; uncordon it by hand")
            acts = add_key(before.metadata.annotations.get(ACTS, ""), key)
            notes = {ACTS: acts, DRAINED_BY: None}
            return {"metadata": {"annotations": notes}, "spec": {"unschedulable": None, "taints": taints(before, None)}}

        seen = self._change(node, returned)
        if not in_service(seen):
            raise ActuatorError(f"{node} in service", self.view(seen).word, f"see `kubectl describe node {node}`")
        tell(self._client, seen, Action.UNDRAIN, key)
        return self.view(seen)

    def _change(self, name: str, change: Callable[[Node], dict[str, object]]) -> Node:
        """Change a node by what `change` returns for its present state, and return it as it is afterwards."""
        with translated():
            # Try five times: another client may change the node between the look and the patch.
            for _ in range(5):
                before = self._client.node(name)
                try:
                    self._client.patch_node(before, change(before))
                except KubernetesConflict:
                    continue
                return self._client.node(name)
        raise ActuatorError(f"{name} to be changed", "others change it all the time", "it is tried again")
