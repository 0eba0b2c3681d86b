"""The slots of the local scheduler as nodes: which are drained, why, and what the bridge did to them."""

from collections.abc import Collection
from dataclasses import dataclass, field

from ...errors import ActuatorError
from ...views import NodeView, SchedulerNodeState
from .jobs import slot_name


@dataclass(slots=True)
class _Node:
    """One slot. `reason` is None while it is in service; `drained_by` is empty where a person drained it."""

    reason: str | None = None
    drained_by: str = ""
    acts: list[str] = field(default_factory=list)


class LocalNodes:
    """The nodes by name. Not safe for threads. What the state of a node does not allow raises `ActuatorError` and does nothing."""

    def __init__(self, slots: int) -> None:
        self._nodes = {slot_name(slot): _Node() for slot in range(slots)}

    def names(self) -> Collection[str]:
        """Return the names of all nodes."""
        return self._nodes.keys()

    def in_service(self, name: str) -> bool:
        """May a job start there?"""
        return self._nodes[name].reason is None

    def views(self, busy: Collection[str]) -> list[NodeView]:
        """Return all nodes; jobs run on those that are `busy`."""
        return [self._view(name, name in busy) for name in self._nodes]

    def drain(self, name: str, reason: str, key: str = "") -> None:
        """Start no more jobs on a node. A person who does so gives no key."""
        node = self._find(name)
        if node.reason is not None:
            raise ActuatorError("a node in service", f"{name} is drained ({node.reason})", "nothing was done")
        node.reason, node.drained_by = reason, key
        node.acts += [key] if key else []

    def undrain(self, name: str, key: str = "") -> None:
        """Return a drained node to service."""
        node = self._find(name)
        if node.reason is None or (key and not node.drained_by):
            came = f"{name} is " + ("in service" if node.reason is None else f"drained ({node.reason})")
            raise ActuatorError("a node that the bridge drained", came, "nothing was done")
        node.reason, node.drained_by = None, ""
        node.acts += [key] if key else []

    def _find(self, name: str) -> _Node:
        if name not in self._nodes:
            raise ActuatorError("a node that this scheduler knows", repr(name[:40]), "nothing was done")
        return self._nodes[name]

    def _view(self, name: str, busy: bool) -> NodeView:
        node = self._nodes[name]
        state = SchedulerNodeState.UP
        if node.reason is not None:
            state = SchedulerNodeState.DRAINING if busy else SchedulerNodeState.DRAINED
        return NodeView(
            node=name,
            state=state,
            pools=("local",),
            reason=node.reason or "",
            word=state.value.upper(),
            drained_by=node.drained_by,
            acts=tuple(node.acts),
        )
