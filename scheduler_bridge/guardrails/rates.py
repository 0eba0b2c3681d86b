"""Hourly limits: of the cluster, of a node, of a user. Many failures within an hour mean something larger than their jobs.

What is over a limit is not refused for good: it waits until the oldest action counted is an hour old, or until it expires.
"""

from collections.abc import Sequence

from schedmate_records import Action, Decision, DecisionResult

from ..ledger import HOUR
from .base import Context, LimitReached


def limit_reached(decision: Decision, context: Context, user: str) -> LimitReached | None:
    """Return the hourly limit that leaves no room for the decision now; None where there is room.

    Args:
        decision: What should be done.
        context: What was done so far.
        user: In whose favour it is; all users that the scheduler does not name share one allowance.
    """
    if decision.action is Action.NOTIFY:
        return None
    settings = context.settings
    recent = context.ledger.recent(context.now)
    mine = [tried for tried in recent if tried.user == user]
    if not decision.action.on_node and len(mine) >= settings.actions_per_user_hour:
        what = f"{len(mine)} actions for jobs of {user or 'users unknown'} within an hour, a user's share"
        return LimitReached("user-limit", what, _free(mine, settings.actions_per_user_hour))
    if len(recent) >= settings.actions_per_hour:
        what = f"{len(recent)} actions on this cluster within an hour: look for a common cause"
        return LimitReached("cluster-limit", what, _free(recent, settings.actions_per_hour))
    for node in decision.exclude_nodes if decision.node_evidence else ():
        against = [tried for tried in recent if tried.node == node]
        if len(against) >= settings.actions_per_node_hour:
            what = f"{len(against)} actions against {node} within an hour: drain it"
            return LimitReached("node-limit", what, _free(against, settings.actions_per_node_hour))
    return None


def _free(counted: Sequence[DecisionResult], limit: int) -> float:
    """Return when fewer than `limit` of them are younger than an hour; never where the limit is 0."""
    newest_first = sorted((tried.time for tried in counted), reverse=True)
    return newest_first[limit - 1] + HOUR if limit else float("inf")
