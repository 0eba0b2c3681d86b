"""What one cluster shows, under the names by which it goes among several: jobs, partitions, and in a queue nodes, too."""

from dataclasses import replace

from schedmate_records.cluster_names import qualified, qualified_all

from ...queue import Capacity, Queue, RunningJob, WaitingJob
from ...views import JobView, NodeView


def job_of(cluster: str, seen: JobView) -> JobView:
    """Return a job of a cluster."""
    return replace(
        seen,
        job=qualified(cluster, seen.job),
        successor=qualified(cluster, seen.successor),
        dependents=tuple(qualified(cluster, each) for each in seen.dependents),
        partition=qualified_all(cluster, seen.partition),
    )


def node_of(cluster: str, seen: NodeView) -> NodeView:
    """Return a node of a cluster. Its own name stays: its logs use that name."""
    return replace(seen, pools=tuple(qualified(cluster, pool) for pool in seen.pools))


def queue_of(cluster: str, queue: Queue) -> Queue:
    """Return a cluster's queue. Nodes of one name in two clusters must not be taken for one there.

    Nodes of no partition are left out: Slurm starts nothing there, and it is not known whose jobs they would be for.
    """
    return Queue(
        tuple(_waiting(cluster, each) for each in queue.waiting),
        tuple(_running(cluster, each) for each in queue.running),
        tuple(_capacity(cluster, each) for each in queue.nodes if each.view.pools),
    )


def _waiting(cluster: str, job: WaitingJob) -> WaitingJob:
    required = tuple(qualified(cluster, node) for node in job.need.required)
    excluded = tuple(qualified(cluster, node) for node in job.view.excluded)
    view = replace(job_of(cluster, job.view), excluded=excluded)
    return replace(job, view=view, need=replace(job.need, required=required))


def _running(cluster: str, job: RunningJob) -> RunningJob:
    held = {qualified(cluster, node): share for node, share in job.held.items()}
    return replace(job, view=job_of(cluster, job.view), held=held)


def _capacity(cluster: str, node: Capacity) -> Capacity:
    view = node_of(cluster, node.view)
    return replace(node, view=replace(view, node=qualified(cluster, view.node)))
