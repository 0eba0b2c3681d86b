"""Required state of a node at the scheduler, and required evidence, before it is drained or returned to service."""

from collections.abc import Collection, Sequence

from schedmate_records import Action, Decision

from ..act_keys import act_key
from ..schedulers import NodeView, SchedulerNodeState
from ..settings import NODE_EVIDENCE_S, BridgeSettings
from .base import Objection, Wait

NAME = "node-state"


def objection_of_node(
    decision: Decision,
    nodes: Sequence[NodeView],
    users_against: Collection[str],
    settings: BridgeSettings,
    now: float,
) -> Objection | Wait | None:
    """Return why the action on a node is forbidden, or what to wait for; None where it may go ahead.

    Args:
        decision: What should be done.
        nodes: All nodes, as the scheduler shows them now.
        users_against: Users whose jobs were restarted away from that node within the hour.
        settings: What the operator allows.
        now: Seconds since 1970.
    """
    node = next((each for each in nodes if each.node == decision.node), None)
    if node is None:
        return Objection(NAME, f"the scheduler does not know node {decision.node}")
    if act_key(decision) in node.acts:
        return Objection("once", f"the scheduler's record of {node.node} shows that this was carried out before")
    drained = node.state in (SchedulerNodeState.DRAINING, SchedulerNodeState.DRAINED)
    if decision.action is Action.UNDRAIN:
        if drained and node.drained_by:
            return None
        return Objection(NAME, f"the bridge did not drain {node.node}: {node.word or node.state} ({node.reason})")
    if node.state is not SchedulerNodeState.UP:
        return Objection(NAME, f"{node.node} is out of service already: {node.word or node.state} ({node.reason})")
    return _witness(decision, node, users_against, settings, now) or _room(node, nodes, settings)


def _witness(
    decision: Decision, node: NodeView, users_against: Collection[str], settings: BridgeSettings, now: float
) -> Objection | Wait | None:
    """Require evidence that no single job can forge, and that describes the node as it is now."""
    if now - decision.time > NODE_EVIDENCE_S:
        return Objection("witness", f"the evidence against {node.node} is {now - decision.time:.0f} s old")
    if node.booted is not None and node.booted > decision.time:
        return Objection("witness", f"{node.node} has booted since")
    if decision.node_evidence or len(users_against) >= settings.users_against_node:
        return None
    reason = f"only logs of jobs blame {node.node}, of {len(users_against)} users within an hour"
    return Wait(f"{reason}; {settings.users_against_node} are needed, or its own log or GPUs")


def _room(node: NodeView, nodes: Sequence[NodeView], settings: BridgeSettings) -> Wait | None:
    """Ask for room in the cluster and in every pool that the node belongs to, so that small pools keep some nodes, too."""
    for pool in (None, *node.pools):
        members = [each for each in nodes if pool is None or pool in each.pools]
        where = f"the pool {pool}" if pool else "the cluster"
        drained = sum(bool(each.drained_by) for each in members)
        allowed = max(1, int(len(members) * settings.max_drained_share))
        if drained >= allowed:
            return Wait(f"{drained} of {len(members)} nodes of {where} are drained by the bridge, as many as allowed")
        left = sum(each.state is SchedulerNodeState.UP for each in members) - 1
        if left < settings.min_nodes_left:
            return Wait(f"{left} nodes of {where} would be left in service, fewer than {settings.min_nodes_left}")
    return None
