"""Slurm's nodes as the bridge sees them."""

from ....act_keys import read_keys
from ...views import NodeView, SchedulerNodeState
from ..client import SlurmNode

_OUT = frozenset(
    {"DOWN", "FAIL", "ERROR", "UNKNOWN", "MAINT", "MAINTENANCE", "POWERED_DOWN", "POWERING_DOWN", "FUTURE"}
)


def node_view(node: SlurmNode) -> NodeView:
    """Return a node as the bridge sees it."""
    drained_by = read_keys(node.reason)
    return NodeView(
        node=node.name,
        state=_state(node.states),
        pools=node.partitions,
        booted=node.booted,
        reason=node.reason,
        word="+".join(node.states),
        drained_by=drained_by[0] if drained_by and "DRAIN" in node.states else "",
        acts=read_keys(node.comment),
    )


def _state(words: tuple[str, ...]) -> SchedulerNodeState:
    if "DRAIN" in words:
        # In these states no job runs on the node, as long as none completes there either.
        rests = words[0] in {"IDLE", "DOWN", "FAIL", "ERROR", "FUTURE"} and "COMPLETING" not in words
        return SchedulerNodeState.DRAINED if rests else SchedulerNodeState.DRAINING
    return SchedulerNodeState.DOWN if _OUT.intersection(words) else SchedulerNodeState.UP
