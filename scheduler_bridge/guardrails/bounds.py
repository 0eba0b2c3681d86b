"""Limits on what a decision may ask for, whatever its origin."""

import re

from schedmate_records import Action, Decision

from .base import Context, Objection

NAME = "bounds"


def check(decision: Decision, context: Context) -> Objection | None:
    """Object where the decision is about nothing, or asks for too much: nodes, names that cannot be, time."""
    return _objects(decision, context) or _times(decision, context)


def _objects(decision: Decision, context: Context) -> Objection | None:
    settings = context.settings
    if len(decision.exclude_nodes) > settings.max_excluded_nodes:
        asked = len(decision.exclude_nodes)
        return Objection(NAME, f"expected {settings.max_excluded_nodes} excluded nodes at most, got {asked}")
    for node in (*decision.exclude_nodes, *([decision.node] if decision.action.on_node else ())):
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}", node, flags=re.ASCII):
            return Objection(NAME, f"expected the name of a node, got {node[:40]!r}")
    if not decision.target and decision.action is not Action.NOTIFY:
        return Objection(NAME, f"expected the job to {decision.action}, got none")
    return None


def _times(decision: Decision, context: Context) -> Objection | None:
    settings = context.settings
    if not 0 <= decision.grace_s <= settings.max_grace_seconds:
        return Objection(
            NAME, f"expected {settings.max_grace_seconds:g} s of grace at most, got {decision.grace_s:g} s"
        )
    lifetime = decision.expires - decision.time
    if not 0 <= lifetime <= settings.max_lifetime_seconds:
        return Objection(
            NAME, f"expected it to expire within {settings.max_lifetime_seconds:g} s of its time, got {lifetime:g} s"
        )
    ahead = decision.time - context.now
    # Clocks of hosts differ by up to 300 s. A cause further in the future would never expire.
    if ahead > 300.0:
        return Objection(
            NAME, f"expected a cause in the past, got one {ahead:.0f} s ahead: see the clock of the host that wrote it"
        )
    return None
