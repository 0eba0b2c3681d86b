"""Schedulers: one folder for each, with the same names in each.

`scheduler` describes it, `client` connects to it, `actuator` acts on it, and `events` ships its job events.
"""

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
