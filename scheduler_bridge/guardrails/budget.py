"""A cure that did not help twice is not the cure: budgets for each job, and for each root cause of a job."""

from records import Action, Decision

from .base import Context, Objection


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where the job, or this cause in this job, has had its actions."""
    if _is_free(decision.action):
        return None
    settings = context.settings
    lineage = context.ledger.lineage
    whose = lineage(decision.job)
    mine = [tried for tried in context.ledger.tried() if lineage(tried.job) == whose and not _is_free(tried.action)]
    # A place that was lost spends nothing of what cures may cost, nor the other way round.
    evicts = decision.action is Action.EVICT
    mine = [tried for tried in mine if (tried.action is Action.EVICT) is evicts]
    same_cause = [tried for tried in mine if tried.cause == decision.cause]
    if len(same_cause) >= settings.restarts_per_cause:
        return Objection(
            "budget", f"{len(same_cause)} actions on job {decision.job} for {decision.cause or 'this cause'}"
        )
    if len(mine) >= settings.actions_per_job:
        return Objection("budget", f"{len(mine)} actions on job {decision.job} already")
    return None


def _is_free(action: Action) -> bool:
    """True for what is done to nodes, and for the undo of a hold: a job stays held otherwise."""
    return action.on_node or action is Action.RELEASE
