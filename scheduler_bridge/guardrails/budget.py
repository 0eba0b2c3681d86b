"""A cure that did not help twice is not the cure: budgets for each job, and for each root cause of a job."""

from records import Decision

from .base import Context, Objection


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where the job, or this cause in this job, has had its actions."""
    if decision.action.on_node:
        return None
    settings = context.settings
    mine = [tried for tried in context.ledger.tried() if tried.job == decision.job and not tried.action.on_node]
    same_cause = [tried for tried in mine if tried.cause == decision.cause]
    if len(same_cause) >= settings.actions_per_cause:
        return Objection(
            "budget", f"{len(same_cause)} actions on job {decision.job} for {decision.cause or 'this cause'}"
        )
    if len(mine) >= settings.actions_per_job:
        return Objection("budget", f"{len(mine)} actions on job {decision.job} already")
    return None
