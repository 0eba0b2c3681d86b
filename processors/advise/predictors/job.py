"""A job at its submission, and its result."""

import msgspec


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """A job as the scheduler knows it at submission: all inputs of a predictor.

    Empty texts and zeros are unknown. Times are Unix seconds, memory is in GiB, CPUs and GPUs are totals of the job.
    Fractions are allowed: PAI's `plan_gpu` of 25 is a quarter of a GPU.
    """

    job_id: str
    submitted: float
    user: str = ""
    queue: str = ""
    """Partition (Slurm), virtual cluster (Venus, Philly)."""
    group: str = ""
    """Common name of repeated jobs: PAI's group tag, elsewhere the job's name."""
    workload: str = ""
    gpu_type: str = ""
    """The type asked for, never the one assigned."""
    gpus: float = 0.0
    cpus: float = 0.0
    memory_gib: float = 0.0
    tasks: int = 1
    """Roles, such as worker and parameter server."""
    instances: int = 1
    time_limit_s: float = 0.0


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """A job's end: the label, and when it became known."""

    job: Submission
    ended: float
    duration_s: float
    """From the first start to the last end (p* of ATLAS, section 2.1); waiting does not count."""
    failed: bool = False
    """It ended in another way than by completing."""
