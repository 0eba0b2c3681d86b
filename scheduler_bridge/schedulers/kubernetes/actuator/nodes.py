"""Kubernetes' nodes as the bridge sees them, and how it drains them: cordoned, and with a taint that names the act."""

from collections.abc import Sequence

import msgspec

from ....act_keys import read_keys
from ...views import NodeView, SchedulerNodeState
from ..client.lineage import ACTS
from ..client.objects import Node, Pod, Taint
from ..client.resources import gpus

DRAINED_BY = "schedmate.io/drained-by"
"""Annotation: the key of the act that drained the node, then the reason."""
TAINT = "schedmate.io/drained"
"""Taint that marks a cordon as the bridge's. Both are there, or the drain is not the bridge's (any more)."""
_LEAVES = frozenset(
    {
        "ToBeDeletedByClusterAutoscaler",
        "karpenter.sh/disrupted",
        "node.cloudprovider.kubernetes.io/shutdown",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.kubernetes.io/out-of-service",
    }
)
"""Taints of nodes that are about to go, or are not there yet."""
_CONTROL_PLANE = frozenset({"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"})
"""Taints of nodes that are no place for jobs: they must not count as what is left when workers are drained."""


def drained_by(node: Node) -> str:
    """Return the key of the act that drained a node; empty where the bridge did not."""
    keys = read_keys(node.metadata.annotations.get(DRAINED_BY, ""))
    tainted = any(taint.key == TAINT for taint in node.spec.taints)
    return keys[0] if keys and tainted and node.spec.unschedulable else ""


def in_service(node: Node) -> bool:
    """True where nothing keeps the scheduler from giving it pods."""
    return not node.spec.unschedulable and not any(taint.key == TAINT for taint in node.spec.taints)


def taints(node: Node, ours: Taint | None) -> list[dict[str, str]]:
    """Return all taints that a node shall have: those of others, and ours. A patch replaces the whole list."""
    kept = [taint for taint in node.spec.taints if taint.key != TAINT]
    return [msgspec.to_builtins(taint) for taint in (*kept, *([ours] if ours else []))]


def works(pod: Pod) -> bool:
    """True for a pod that must end before a node is empty: not over, and no part of the node itself (DaemonSet, static pod)."""
    owner = pod.metadata.controller
    part = "kubernetes.io/config.mirror" in pod.metadata.annotations or (
        owner is not None and owner.kind in ("DaemonSet", "Node")
    )
    return not pod.is_over and not part


def node_view(node: Node, pods: Sequence[Pod], pool_labels: Sequence[str]) -> NodeView:
    """Return a node as the bridge sees it.

    Args:
        node: The node.
        pods: The pods on it, where it is out of service.
        pool_labels: Labels whose values name its pools.
    """
    labels = node.metadata.labels
    words = ["Ready" if node.ready else "NotReady"]
    words += ["SchedulingDisabled"] if node.spec.unschedulable else []
    words += sorted(f"{taint.key}:{taint.effect}" for taint in node.spec.taints)
    return NodeView(
        node=node.metadata.name,
        state=_state(node, pods),
        pools=tuple(labels[name] for name in pool_labels if name in labels),
        reason=node.metadata.annotations.get(DRAINED_BY, ""),
        word=",".join(words),
        drained_by=drained_by(node),
        acts=read_keys(node.metadata.annotations.get(ACTS, "")),
    )


def _state(node: Node, pods: Sequence[Pod]) -> SchedulerNodeState:
    if in_service(node):
        serves = node.ready and not _is_no_place(node)
        return SchedulerNodeState.UP if serves else SchedulerNodeState.DOWN
    return SchedulerNodeState.DRAINING if any(works(pod) for pod in pods) else SchedulerNodeState.DRAINED


def _is_no_place(node: Node) -> bool:
    """True where taints of the cluster's own forbid jobs there. A control plane with GPUs is meant for some."""
    hard = {taint.key for taint in node.spec.taints if taint.effect in ("NoSchedule", "NoExecute")}
    return bool(hard & _LEAVES) or (bool(hard & _CONTROL_PLANE) and not gpus(node.status.allocatable))
