"""Shadow by default: nothing is carried out whose action was not turned on by name."""

from records import Decision, Mode, Outcome

from .base import Context, Objection


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where the decision is a shadow, or its action is not turned on here."""
    if decision.action not in context.settings.enabled:
        return Objection("mode", f"the action {decision.action} is not turned on", Outcome.SHADOWED)
    if decision.mode is not Mode.ACT:
        return Objection("mode", "the decision was published in shadow mode", Outcome.SHADOWED)
    return None
