"""What a job's log tells of the checkpoints that it saves: when, where, and whether they are complete."""

from .saves import CheckpointsState
from .stage import CheckpointMetrics, Checkpoints

__all__ = ["CheckpointMetrics", "Checkpoints", "CheckpointsState"]
