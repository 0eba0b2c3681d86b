"""One folder a scheduler, the same file names in each: `actuator` (what can be asked of it), `jobs` (how its jobs are read)."""

from .base import Actuator, ActuatorError, JobView, SchedulerAway, SchedulerJobState

__all__ = ["Actuator", "ActuatorError", "JobView", "SchedulerAway", "SchedulerJobState"]
