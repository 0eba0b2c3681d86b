"""Refuses decisions without a valid signature if signing keys are configured."""

from schedmate_records import Decision

from .base import Context, Objection


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where the decision is not signed, or was changed since."""
    if context.keys is None or context.keys.verifies(decision):
        return None
    what = "its signature does not match" if decision.signature else "it is not signed"
    return Objection("signature", f"{what}: see bridge.signing_keys_file")
