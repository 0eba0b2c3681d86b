"""Checkpoints that a job saves, from its log: time, place, and whether they are complete."""

from .saves import CheckpointsState
from .stage import CheckpointMetrics, Checkpoints

__all__ = ["CheckpointMetrics", "Checkpoints", "CheckpointsState"]
