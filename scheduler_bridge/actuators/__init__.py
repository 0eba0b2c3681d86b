"""One folder a scheduler, the same file names in each: `actuator` (what can be asked of it), `jobs` and `nodes` (how those are read)."""

from .base import Actuator, ActuatorError, JobState, JobView, NodeState, NodeView, SchedulerAway

__all__ = ["Actuator", "ActuatorError", "JobState", "JobView", "NodeState", "NodeView", "SchedulerAway"]
