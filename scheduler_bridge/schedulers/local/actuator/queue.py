"""Waiting and running jobs on this machine."""

from collections.abc import Collection
from dataclasses import replace

from ...queue import Capacity, Need, Queue, RunningJob, Share, WaitingJob
from ...views import SchedulerJobState
from .jobs import LocalJob
from .nodes import LocalNodes


def queue_of(jobs: Collection[LocalJob], nodes: LocalNodes) -> Queue:
    """Return the queue; a slot counts as a node with one GPU, which a job takes whole."""
    waiting = [job for job in jobs if job.state is SchedulerJobState.PENDING and not job.pack_with]
    first = max(waiting, key=lambda job: job.priority, default=None)
    running = [job for job in jobs if job.tasks]
    return Queue(
        tuple(WaitingJob(job.view(), job.queued, Need(gpus=1.0), blocked=job is first) for job in waiting),
        tuple(RunningJob(job.view(), job.started, {job.node: Share(gpus={0: 1.0})}) for job in running),
        # A job of any partition may start on any slot.
        tuple(Capacity(replace(view, pools=()), gpus=1) for view in nodes.views({job.node for job in running})),
    )
