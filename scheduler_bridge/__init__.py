"""Decisions, and what carries them out: policies, guardrails, one actuator a scheduler, and the subscriber for others."""

from .bridge import Bridge
from .metrics import BridgeMetrics
from .settings import BridgeSettings
from .subscriber import DeadRecord, Delivery, Subscription, SubscriptionError, subscribe

__all__ = [
    "Bridge",
    "BridgeMetrics",
    "BridgeSettings",
    "DeadRecord",
    "Delivery",
    "Subscription",
    "SubscriptionError",
    "subscribe",
]
