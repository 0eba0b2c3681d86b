"""Slurm's jobs as the bridge sees them."""

from scheduler_bridge.actuators.base import JobStatus, JobView
from scheduler_clients.slurm import SlurmJob

_STATES = {
    "RUNNING": JobStatus.RUNNING,
    "COMPLETING": JobStatus.STOPPING,
    "STAGE_OUT": JobStatus.STOPPING,
    "REQUEUED": JobStatus.STOPPING,
    "REQUEUE_HOLD": JobStatus.HELD,
    "SPECIAL_EXIT": JobStatus.HELD,
    "PENDING": JobStatus.PENDING,
    "COMPLETED": JobStatus.COMPLETED,
    "CANCELLED": JobStatus.CANCELLED,
    "FAILED": JobStatus.FAILED,
    "NODE_FAIL": JobStatus.FAILED,
    "BOOT_FAIL": JobStatus.FAILED,
    "OUT_OF_MEMORY": JobStatus.FAILED,
    "TIMEOUT": JobStatus.FAILED,
}


def state_of(job: SlurmJob) -> JobStatus:
    """Return the state of a job."""
    return JobStatus.HELD if job.held else _STATES.get(job.state, JobStatus.OTHER)


def view(name: str, job: SlurmJob, shards_per_gpu: int) -> JobView:
    """Return a job as the bridge sees it, under the name by which the bridge asked for it.

    Args:
        name: The job's id.
        job: What Slurm says.
        shards_per_gpu: The shards of a whole GPU; 0 where there are none.
    """
    return JobView(
        job=name,
        state=state_of(job),
        attempt=job.restarts,
        nodes=job.nodes,
        excluded=job.excluded_nodes,
        word=job.state + (f" ({job.reason})" if job.reason else ""),
        alone=0 < shards_per_gpu <= job.shards_per_node,
        user=job.user,
    )
