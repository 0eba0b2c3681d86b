"""One folder a scheduler, the same file names in each: `actuator` (what can be asked of it), `jobs` and `nodes` (how those are read)."""

from .base import Actuator, ActuatorError, JobView, NodeView, SchedulerAway, SchedulerJobState, SchedulerNodeState
from .partial import PartialActuator

__all__ = [
    "Actuator",
    "ActuatorError",
    "JobView",
    "NodeView",
    "PartialActuator",
    "SchedulerAway",
    "SchedulerJobState",
    "SchedulerNodeState",
]
