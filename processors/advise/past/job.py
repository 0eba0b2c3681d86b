"""A job as the scheduler knows it when it is submitted, and once it has ended."""

import msgspec

from schedmate_records import Workload


class SubmittedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job at its submission. Empty texts are unknown.

    Attributes:
        job: Its id.
        user: Who submitted it.
        command: Command line, or script and arguments.
        directory: Working directory.
        branch: Version-control branch of the directory.
        submitted: Seconds since 1970.
        name: Its name.
        partition: Partition or queue.
        gpus: GPUs that it asks for in all; 0 where not known, as below.
        cpus: CPUs in all.
        memory_gib: Memory in all.
        nodes: Nodes.
        time_limit_s: The scheduler ends it after so many seconds; 0 for no limit.
        workload: What it trains, according to its source; None if the source was not read.
    """

    job: str
    user: str = ""
    command: str = ""
    directory: str = ""
    branch: str = ""
    submitted: float = 0.0
    name: str = ""
    partition: str = ""
    gpus: float = 0.0
    cpus: float = 0.0
    memory_gib: float = 0.0
    nodes: int = 0
    time_limit_s: float = 0.0
    workload: Workload | None = None


class PastJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job that ended.

    Attributes:
        about: What was known at its submission.
        ended: Seconds since 1970.
        duration_s: From its start to its end.
        completed: It ended well.
        gpu_utilisation: Mean of its GPUs, in percent; null where not measured.
    """

    about: SubmittedJob
    ended: float
    duration_s: float
    completed: bool = True
    gpu_utilisation: float | None = None
