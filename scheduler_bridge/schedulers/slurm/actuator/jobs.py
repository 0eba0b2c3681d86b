"""Slurm's jobs and nodes as the bridge sees them."""

from schedmate_records import incarnation_of_time

from ....act_keys import read_keys
from ...views import JobView, NodeView, SchedulerJobState, SchedulerNodeState
from ..client import SlurmJob, SlurmNode

_OUT = frozenset(
    {"DOWN", "FAIL", "ERROR", "UNKNOWN", "MAINT", "MAINTENANCE", "POWERED_DOWN", "POWERING_DOWN", "FUTURE"}
)


_STATES = {
    "RUNNING": SchedulerJobState.RUNNING,
    "COMPLETING": SchedulerJobState.STOPPING,
    "STAGE_OUT": SchedulerJobState.STOPPING,
    "REQUEUED": SchedulerJobState.STOPPING,
    "REQUEUE_HOLD": SchedulerJobState.HELD,
    "SPECIAL_EXIT": SchedulerJobState.HELD,
    "PENDING": SchedulerJobState.PENDING,
    "COMPLETED": SchedulerJobState.COMPLETED,
    "CANCELLED": SchedulerJobState.CANCELLED,
    "FAILED": SchedulerJobState.FAILED,
    "NODE_FAIL": SchedulerJobState.FAILED,
    "BOOT_FAIL": SchedulerJobState.FAILED,
    "OUT_OF_MEMORY": SchedulerJobState.FAILED,
    "TIMEOUT": SchedulerJobState.FAILED,
}

STOPPED = (SchedulerJobState.FAILED, SchedulerJobState.COMPLETED, SchedulerJobState.CANCELLED)


def state_of(job: SlurmJob) -> SchedulerJobState:
    """Return the state of a job."""
    return SchedulerJobState.HELD if job.held else _STATES.get(job.state, SchedulerJobState.OTHER)


def view(name: str, job: SlurmJob, shards_per_gpu: int, acts: tuple[str, ...], *, opted_out: bool = False) -> JobView:
    """Return a job as the bridge sees it, under the name by which the bridge asked for it.

    Args:
        name: The job's id.
        job: Slurm's record of it.
        shards_per_gpu: The shards of a whole GPU; 0 where there are none.
        acts: Keys of what the bridge did to it.
        opted_out: Its user wants it not to be restarted.
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
        partition=job.partition,
        account=job.account,
        qos=job.qos,
        priority=job.priority,
        limit_s=job.limit_s,
        interrupted=job.is_marked,
        queued=job.submitted,
        opted_out=opted_out,
        incarnation="" if job.restarts else incarnation_of_time(job.submitted),  # a requeue changes the submit time
    )


def node_view(node: SlurmNode) -> NodeView:
    """Return a node as the bridge sees it."""
    drained_by = read_keys(node.reason)
    return NodeView(
        node=node.name,
        state=_state(node.states),
        pools=node.partitions,
        booted=node.booted,
        reason=node.reason,
        word="+".join(node.states),
        drained_by=drained_by[0] if drained_by and "DRAIN" in node.states else "",
        acts=read_keys(node.comment),
    )


def _state(words: tuple[str, ...]) -> SchedulerNodeState:
    if "DRAIN" in words:
        # In these states no job runs on the node, as long as none completes there either.
        rests = words[0] in {"IDLE", "DOWN", "FAIL", "ERROR", "FUTURE"} and "COMPLETING" not in words
        return SchedulerNodeState.DRAINED if rests else SchedulerNodeState.DRAINING
    return SchedulerNodeState.DOWN if _OUT.intersection(words) else SchedulerNodeState.UP
