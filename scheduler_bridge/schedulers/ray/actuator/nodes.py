"""Ray's nodes as the bridge sees them: by name, while Ray places by id."""

from collections.abc import Iterable

from ...views import NodeView, SchedulerNodeState
from ..client.objects import RayNode


class Nodes:
    """The nodes of a cluster at one moment.

    A node that is started again keeps its name (`ray start --node-name`), and has another id.

    Args:
        nodes: As Ray lists them, dead ones included.
    """

    def __init__(self, nodes: Iterable[RayNode]) -> None:
        self.all = sorted(nodes, key=lambda node: (node.alive, node.start_time_ms))
        self._names = {node.node_id: node.node_name for node in self.all}

    def name(self, node_id: str | None) -> str:
        """Return the name of a node; empty where it is not known."""
        return self._names.get(node_id or "", "")

    def names(self, node_ids: Iterable[str | None]) -> frozenset[str]:
        """Return the names of nodes, without those that are not known."""
        return frozenset(name for node_id in node_ids if (name := self.name(node_id)))

    def ids(self, names: Iterable[str]) -> frozenset[str]:
        """Return the ids of the nodes of these names that live."""
        wanted = frozenset(names)
        return frozenset(node.node_id for node in self.all if node.alive and node.node_name in wanted)

    @property
    def newest(self) -> list[RayNode]:
        """One node of each name: the living one, else the last."""
        return list({node.node_name: node for node in self.all}.values())

    @property
    def head(self) -> str:
        """The id of the head; empty where there is none."""
        return next((node.node_id for node in reversed(self.all) if node.is_head_node), "")


def node_view(node: RayNode) -> NodeView:
    """Return a node as the bridge sees it."""
    return NodeView(
        node=node.node_name,
        state=SchedulerNodeState.UP if node.alive else SchedulerNodeState.DOWN,
        reason=(node.state_message or "")[:300],
        word=node.state,
    )
