"""A node is acted on once, and then left alone for a while: a drain that is undone and done again helps nobody."""

from records import Decision

from .base import Context, Objection


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where the same was done to the node a short while ago."""
    if not decision.action.on_node:
        return None
    since = context.now - context.settings.node_cooldown
    for tried in context.ledger.tried():
        if tried.action is decision.action and tried.node == decision.node and tried.time > since:
            return Objection("cooldown", f"{tried.decision_id} was tried {context.now - tried.time:.0f} s ago")
    return None
