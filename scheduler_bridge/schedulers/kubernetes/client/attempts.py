"""Which attempt an object is now, the fields of its kind considered."""

from .lineage import STOPPED_FOR, attempt_of, is_cancelled
from .workloads.batch_job import Job
from .workloads.kind import WorkloadObject
from .workloads.kueue import QUEUE


def is_resumed(job: WorkloadObject) -> bool:
    """True where the bridge suspended a job for good, and a person let it go again."""
    meta = job.metadata
    if not is_cancelled(meta) or STOPPED_FOR in meta.annotations:
        return False
    if isinstance(job, Job):  # what no queue holds was not suspended, but ended
        return QUEUE in meta.labels and not job.spec.suspend
    return bool(job.SUSPEND) and not job.suspended


def present_attempt(job: WorkloadObject) -> int:
    """Return how often the job was started before: as noted, and once more where a person resumed it after it was cancelled."""
    return attempt_of(job.metadata) + is_resumed(job)
