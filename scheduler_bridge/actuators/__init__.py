"""One folder a scheduler, the same file names in each: `actuator` (what can be asked of it), `jobs` (how its jobs are read)."""

from .base import Actuator, ActuatorError, JobStatus, JobView, SchedulerAway

__all__ = ["Actuator", "ActuatorError", "JobStatus", "JobView", "SchedulerAway"]
