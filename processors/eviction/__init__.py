"""Chooses the jobs to evict so that a job can start. Schedulers and the simulator use the same pure functions."""

from .resources import WHOLE, Need, NodeResources, Share
from .victims import EvictionPlan, least_loss, weigh

__all__ = ["WHOLE", "EvictionPlan", "Need", "NodeResources", "Share", "least_loss", "weigh"]
