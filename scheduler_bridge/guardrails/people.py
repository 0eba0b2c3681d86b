"""Commands of operators: a rejection forbids, a stop holds everything back, and what needs an approval waits for it."""

import shlex

from schedmate_records import Decision, Mode, Outcome

from .base import Context, Objection, Wait
from .mode import mode_in_force


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where a person rejected the decision."""
    if rejection := context.commands.rejection(decision):
        return Objection("approval", f"rejected by {rejection.author}: {rejection.reason}")
    return None


def stopped(context: Context) -> Wait | None:
    """Return that all actions wait, where a person stopped them, or people work on the cluster."""
    for stop in context.commands.stops:
        return Wait(f"stopped by {stop.author}: {stop.reason}", Outcome.STOPPED)
    for window in context.settings.maintenance:
        if window.contains(context.now):
            return Wait(f"maintenance window: {window.text}", Outcome.STOPPED)
    return None


def awaits_approval(decision: Decision, context: Context, mode: Mode = Mode.ACT) -> Wait | None:
    """Return that the decision waits for a person; None where none is needed, or one has approved it.

    `mode` is how far it may go with this job or node.
    """
    acts = mode_in_force(decision, context) is mode is Mode.ACT
    if acts or context.commands.approval(decision, context.now):
        return None
    return Wait(
        f"it is not approved yet: schedmate decisions approve {shlex.quote(decision.id)} --reason …",
        Outcome.AWAITING_APPROVAL,
    )
