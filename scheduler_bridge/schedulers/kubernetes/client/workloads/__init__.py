"""Kinds of jobs, one a file: how each is read, stopped and released through its own fields."""

from .batch_job import Job
from .kind import Order, Patch, PodGroup, WorkloadObject, WorkloadPhase
from .kinds import KINDS, kind_named, kind_of
from .kueue import QUEUE, QueuedWorkload

__all__ = [
    "KINDS",
    "QUEUE",
    "Job",
    "Order",
    "Patch",
    "PodGroup",
    "QueuedWorkload",
    "WorkloadObject",
    "WorkloadPhase",
    "kind_named",
    "kind_of",
]
