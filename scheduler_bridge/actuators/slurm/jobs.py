"""Slurm's jobs as the bridge sees them."""

from scheduler_bridge.actuators.base import JobState, JobView
from scheduler_clients.slurm import SlurmJob

_STATES = {
    "RUNNING": JobState.RUNNING,
    "COMPLETING": JobState.STOPPING,
    "STAGE_OUT": JobState.STOPPING,
    "REQUEUED": JobState.STOPPING,
    "REQUEUE_HOLD": JobState.HELD,
    "SPECIAL_EXIT": JobState.HELD,
    "PENDING": JobState.PENDING,
    "COMPLETED": JobState.COMPLETED,
    "CANCELLED": JobState.CANCELLED,
    "FAILED": JobState.FAILED,
    "NODE_FAIL": JobState.FAILED,
    "BOOT_FAIL": JobState.FAILED,
    "OUT_OF_MEMORY": JobState.FAILED,
    "TIMEOUT": JobState.FAILED,
}


def state_of(job: SlurmJob) -> JobState:
    """Return the state of a job."""
    return JobState.HELD if job.held else _STATES.get(job.state, JobState.OTHER)


def view(name: str, job: SlurmJob, shards_per_gpu: int, acts: tuple[str, ...]) -> JobView:
    """Return a job as the bridge sees it, under the name by which the bridge asked for it.

    Args:
        name: The job's id.
        job: What Slurm says.
        shards_per_gpu: The shards of a whole GPU; 0 where there are none.
        acts: Keys of what the bridge did to it.
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
        acts=acts,
    )
