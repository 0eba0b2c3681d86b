"""A decision is about a moment; later it may be wrong."""

from schedmate_records import Decision, Outcome

from .base import Context, Objection


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where the time of the decision is over."""
    late = context.now - decision.expires
    if late <= 0:
        return None
    return Objection("expiry", f"expired {late:.0f} s ago, before it could be carried out", Outcome.EXPIRED)
