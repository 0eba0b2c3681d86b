"""What a job's log tells of the checkpoints that it saves: when, where, and whether they are complete."""

from .saves import CheckpointsState
from .stage import CheckpointCounters, Checkpoints

__all__ = ["CheckpointCounters", "Checkpoints", "CheckpointsState"]
