"""Checks between a decision and a scheduler. Each file holds one reason not to act; any of them is enough."""

from collections.abc import Iterable

from schedmate_records import Decision

from . import bounds, budget, cooldown, expiry, mode, once, people, progress, signature
from .base import Context, Guardrail, LimitReached, Objection, Wait
from .job_state import objection_of_gain, objection_of_state
from .node_state import objection_of_node
from .people import awaits_approval, stopped
from .rates import limit_reached

GUARDRAILS: tuple[Guardrail, ...] = (
    mode.check,
    signature.check,
    people.check,
    bounds.check,
    expiry.check,
    once.check,
    progress.check,
    budget.check,
    cooldown.check,
)
"""In this order; the first objection is the one that is written down."""

HELD_BACK: tuple[Guardrail, ...] = (mode.check, signature.check, people.check)
"""Guardrails that are checked again before a job that was asked to save a checkpoint is evicted: the operator may have changed them."""

AGAIN: tuple[Guardrail, ...] = (*HELD_BACK, bounds.check, expiry.check)
"""Those that are asked once more before what was begun and cut off is done again; the others would count the first try."""

__all__ = [
    "AGAIN",
    "GUARDRAILS",
    "HELD_BACK",
    "Context",
    "Guardrail",
    "LimitReached",
    "Objection",
    "Wait",
    "awaits_approval",
    "first_objection",
    "limit_reached",
    "objection_of_gain",
    "objection_of_node",
    "objection_of_state",
    "stopped",
]


def first_objection(
    decision: Decision, context: Context, guardrails: Iterable[Guardrail] = GUARDRAILS
) -> Objection | None:
    """Return the first reason not to carry out a decision now, before the scheduler is asked; None for no reason."""
    found = (check(decision, context) for check in guardrails)
    return next((objection for objection in found if objection), None)
