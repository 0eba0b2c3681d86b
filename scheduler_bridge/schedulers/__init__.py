"""One folder a scheduler, the same file names in each: `actuator` (what can be asked of it), `jobs` and `nodes` (how those are read)."""

from .base import Actuator
from .errors import ActuatorError, SchedulerAway, translated
from .queue import Capacity, Need, Queue, RunningJob, Share, WaitingJob
from .views import JobView, NodeView, SchedulerJobState, SchedulerNodeState

__all__ = [
    "Actuator",
    "ActuatorError",
    "Capacity",
    "JobView",
    "Need",
    "NodeView",
    "Queue",
    "RunningJob",
    "SchedulerAway",
    "SchedulerJobState",
    "SchedulerNodeState",
    "Share",
    "WaitingJob",
    "translated",
]
