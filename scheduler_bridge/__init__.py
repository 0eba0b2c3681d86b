"""Decisions, and what carries them out: policies, guardrails, one actuator a scheduler, and the subscriber for others."""

from .bridge import Bridge, BridgeCounters
from .settings import BridgeSettings

__all__ = ["Bridge", "BridgeCounters", "BridgeSettings"]
