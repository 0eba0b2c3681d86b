"""Decisions, and what carries them out: policies, guardrails, one actuator a scheduler, and the subscriber for others."""

from .bridge import Bridge
from .metrics import BridgeMetrics
from .settings import BridgeOptions
from .subscriber import DeadRecord, Delivery, Subscription, SubscriptionError, subscribe

__all__ = [
    "Bridge",
    "BridgeMetrics",
    "BridgeOptions",
    "DeadRecord",
    "Delivery",
    "Subscription",
    "SubscriptionError",
    "subscribe",
]
