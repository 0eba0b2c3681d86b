"""One folder a scheduler, the same file names in each: `actuator` (what can be asked of it), `jobs` and `nodes` (how those are read)."""

from .base import Actuator, ActuatorError, JobView, NodeView, SchedulerAway, SchedulerJobState, SchedulerNodeState

__all__ = [
    "Actuator",
    "ActuatorError",
    "JobView",
    "NodeView",
    "SchedulerAway",
    "SchedulerJobState",
    "SchedulerNodeState",
]
