"""Shadow mode is the default: only actions that are turned on by name are carried out."""

from schedmate_records import Decision, Mode, Outcome

from ..settings import FURTHEST
from .base import Context, Objection


def mode_in_force(decision: Decision, context: Context) -> Mode:
    """Return how far a decision may go: as far as its own mode and the operator's present settings both allow."""
    return min(decision.mode, context.settings.mode(decision.action), key=FURTHEST.index)


def check(decision: Decision, context: Context) -> Objection | None:
    """Object if the decision, or its action in this bridge, is in shadow mode."""
    if context.settings.mode(decision.action) is Mode.SHADOW:
        return Objection("mode", f"{decision.action.plural} are in shadow mode", Outcome.SHADOWED)
    if decision.mode is Mode.SHADOW:
        return Objection("mode", "the decision was published in shadow mode", Outcome.SHADOWED)
    return None
