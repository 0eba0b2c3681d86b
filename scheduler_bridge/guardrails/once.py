"""An attempt of a job is acted on once, whatever the origin and the cause of the decision."""

from schedmate_records import Action, Decision, same_job

from .base import Context, Objection


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where another decision was already tried on the same attempt, or the packing was already cancelled."""
    if decision.action.on_node:
        return None
    for tried in context.ledger.tried():
        same = tried.action is decision.action and same_job(tried, decision) and tried.attempt == decision.attempt
        if same and (decision.action is not Action.CANCEL_PACKING or tried.cause == decision.cause):
            return Objection("once", f"{tried.decision_id} was already tried on this attempt")
    return None
