"""Estimates before a job starts, from jobs that ended: its own earlier runs, and jobs alike (SchedMate §3.1)."""

from .estimator import PastEstimate, PastEstimator
from .history import JobHistory, MemoryHistory
from .job import PastJob, SubmittedJob

__all__ = ["JobHistory", "MemoryHistory", "PastEstimate", "PastEstimator", "PastJob", "SubmittedJob"]
