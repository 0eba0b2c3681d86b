"""Whom to evict so that a job can start: pure functions that know no scheduler and no simulator, the same code for both."""

from .loss import weigh
from .resources import WHOLE, Capacity, Need, Share
from .victims import Placement, least_loss

__all__ = ["WHOLE", "Capacity", "Need", "Placement", "Share", "least_loss", "weigh"]
