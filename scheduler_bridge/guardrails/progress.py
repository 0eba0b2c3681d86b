"""A restart after which a job failed in the same way, not one training step further, was not the cure."""

from schedmate_records import Action, Decision

from ..verdicts import Verdict
from .base import Context, Objection


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where the attempt before failed for the same cause, and this one came no further. What is not known forbids nothing.

    A cause without a line does not count: only the scheduler reports that a node is lost (a spot node, for example). Nor does an attempt
    that has saved a checkpoint: the next one resumes from there, which proves more than a counter that each process starts anew.
    """
    before = context.ledger.attempt_before(decision.job, decision.attempt)
    if decision.action is not Action.RESTART or before is None:
        return None
    then, now = (
        context.verdicts.newest(*before, decision.incarnation),
        context.verdicts.newest(decision.job, decision.attempt, decision.incarnation),
    )
    if then is None or now is None or not (then.told and now.told and then.cause == now.cause == decision.cause):
        return None
    saved = context.saves.newest(decision.job, decision.incarnation)
    if _gained(then, now) is not False or (saved and saved.attempt == decision.attempt):
        return None
    came = f"failed with {decision.cause} at {_place(now)}"
    return Objection(
        "progress", f"job {decision.job} {came}, the attempt before it at {_place(then)}: no step was gained"
    )


def _gained(then: Verdict, now: Verdict) -> bool | None:
    """Return whether `now` is beyond `then`; None where that is not known."""
    if then.step is None or now.step is None or (then.epoch is None) != (now.epoch is None):
        return None
    return (now.epoch or 0.0, now.step) > (then.epoch or 0.0, then.step)


def _place(verdict: Verdict) -> str:
    return f"step {verdict.step}" + (f" of epoch {verdict.epoch:g}" if verdict.epoch is not None else "")
