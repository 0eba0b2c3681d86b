"""A node is acted on once, and then left alone for a while: to undo a drain and drain again has no use.

So is a job that was evicted.
"""

from schedmate_records import Action, Decision, same_job

from .base import Context, Objection


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where the same was done to the node a short while ago, or the job was evicted."""
    if decision.action is not Action.EVICT and not decision.action.on_node:
        return None
    settings, on_node = context.settings, decision.action.on_node
    since = context.now - (settings.node_cooldown_seconds if on_node else settings.evict_cooldown_seconds)
    for tried in context.ledger.tried():
        same = tried.node == decision.node if on_node else same_job(tried, decision)
        if same and tried.action is decision.action and tried.time > since:
            return Objection("cooldown", f"{tried.decision_id} was tried {context.now - tried.time:.0f} s ago")
    return None
