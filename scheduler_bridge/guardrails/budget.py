"""A cure that did not help twice is not the cure: budgets for each job, and for each root cause of a job."""

from enum import Enum, auto

from schedmate_records import Action, Decision, DecisionResult, same_job

from .base import Context, Objection


class _Spent(Enum):
    """Kind of budget that an action uses. A job has one of each kind, so that lost nodes do not use up restarts after failures."""

    NOTHING = auto()
    CURE = auto()
    EVICTION = auto()
    LOST_NODE = auto()


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where the job, or this cause in this job, has had its actions."""
    spent = _spent(decision)
    if spent is _Spent.NOTHING:
        return None
    settings = context.settings
    lineage = context.ledger.lineage
    whose = lineage(decision.job)
    mine = [
        tried
        for tried in context.ledger.tried()
        if lineage(tried.job) == whose
        and _spent(tried) is spent
        and (tried.job != decision.job or same_job(tried, decision))
    ]
    if spent is _Spent.LOST_NODE:
        if len(mine) < settings.restarts_after_lost_nodes:
            return None
        return Objection(
            "budget", f"job {decision.job} lost its nodes {len(mine)} times and was restarted: does the job break them?"
        )
    same_cause = [tried for tried in mine if tried.cause == decision.cause]
    if len(same_cause) >= settings.restarts_per_cause:
        return Objection(
            "budget", f"{len(same_cause)} actions on job {decision.job} for {decision.cause or 'this cause'}"
        )
    if len(mine) >= settings.actions_per_job:
        return Objection("budget", f"{len(mine)} actions on job {decision.job} already")
    return None


def _spent(what: Decision | DecisionResult) -> _Spent:
    """Return what an action is counted as: nothing where it is done to a node, or undoes a hold, since a job stays held otherwise."""
    if what.action.on_node or what.action is Action.RELEASE:
        return _Spent.NOTHING
    if what.action is Action.EVICT:
        return _Spent.EVICTION
    # Causes without a line: only the scheduler reports that the job's node is gone, as spot nodes are.
    lost = what.action is Action.RESTART and what.cause in {"node_fail", "boot_fail"}
    return _Spent.LOST_NODE if lost else _Spent.CURE
