"""One folder a scheduler, the same file names in each: `actuator` (what can be asked of it), `jobs` and `nodes` (how those are read)."""

from .base import Actuator, ActuatorError, JobView, NodeState, NodeView, SchedulerAway, SchedulerJobState

__all__ = ["Actuator", "ActuatorError", "JobView", "NodeState", "NodeView", "SchedulerAway", "SchedulerJobState"]
