"""Whom to evict so that a job can start: pure functions that know no scheduler and no simulator, the same code for both."""

from .loss import weigh
from .resources import WHOLE, Need, NodeResources, Share
from .victims import EvictionPlan, least_loss

__all__ = ["WHOLE", "EvictionPlan", "Need", "NodeResources", "Share", "least_loss", "weigh"]
