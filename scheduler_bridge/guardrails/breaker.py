"""Many failures within an hour mean something larger than their jobs: a person should look, not a machine restart them all."""

from records import Decision

from .base import Context, Objection

HOUR = 3600.0


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where the cluster, or a node that the action is held against, has had its actions of the last hour."""
    settings = context.settings
    recent = [tried for tried in context.ledger.tried() if abs(context.now - tried.time) < HOUR]
    if len(recent) >= settings.actions_per_cluster:
        return Objection("breaker", f"{len(recent)} actions on this cluster within an hour: look for a common cause")
    for node in decision.exclude_nodes:
        against = [tried for tried in recent if tried.node == node]
        if len(against) >= settings.actions_per_node:
            return Objection("breaker", f"{len(against)} actions against {node} within an hour: drain it")
    return None
