"""Decisions, and what carries them out: policies, guardrails, one actuator a scheduler, and the subscriber for others.

Names are loaded when they are first used: a subscriber needs no bridge, and who reads the settings needs no Kafka client.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bridge import Bridge
    from .delivery import DeadRecord, Delivery
    from .metrics import BridgeMetrics
    from .settings import BridgeSettings
    from .signing import SigningKeyError, SigningKeys
    from .subscriber import Subscription, SubscriptionError, subscribe

__all__ = [
    "Bridge",
    "BridgeMetrics",
    "BridgeSettings",
    "DeadRecord",
    "Delivery",
    "SigningKeyError",
    "SigningKeys",
    "Subscription",
    "SubscriptionError",
    "subscribe",
]

_MODULES = {
    "Bridge": "bridge",
    "BridgeMetrics": "metrics",
    "BridgeSettings": "settings",
    "DeadRecord": "delivery",
    "Delivery": "delivery",
    "SigningKeyError": "signing",
    "SigningKeys": "signing",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES.get(name, 'subscriber')}", __name__), name)
