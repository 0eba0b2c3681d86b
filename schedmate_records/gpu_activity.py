"""Topic `gpu-activity`: activity of a job's GPUs on a node."""

from enum import StrEnum

import msgspec

from .base import Record


class GpuState(StrEnum):
    """Activity of a GPU over at least half a minute."""

    WORKING = "working"
    """It computes."""
    WAITING = "waiting"
    """A kernel runs without access to memory, as a collective that waits for a lost rank."""
    IDLE = "idle"
    """No kernel runs."""
    VACANT = "vacant"
    """No kernel and no process; the job is the only one on the node, and may hold this GPU or not."""
    UNKNOWN = "unknown"
    """Samples are missing, or have no answer."""


class GpuSpan(msgspec.Struct, frozen=True, kw_only=True):
    """The activity of a GPU, and its start.

    Attributes:
        gpu: NVML index.
        state: Activity.
        since: Start of the activity, in seconds since 1970.
        rank: The job's rank on it, where its process names one; null also where several ranks share it.
    """

    gpu: int
    state: GpuState
    since: float
    rank: int | None = None


class GpuActivity(Record, frozen=True, kw_only=True):
    """The GPUs of one attempt of a job on one node. Key: the job.

    Written when the activity of one changes, 1, 2, 4 and 8 minutes later, then every ten minutes, and without `gpus` when the
    attempt has ended. It is valid until `time`. Without samples no record is written.

    Attributes:
        id: Follows from the job, the node and the place of the sample.
        job: The scheduler's job id.
        attempt: Restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        node: Host.
        time: Time of the newest sample, in seconds since 1970.
        gpus: The GPUs, by index.
        working_s: GPU-seconds that the attempt's GPUs here have worked so far.
        waiting_s: GPU-seconds in a kernel that waits.
        idle_s: GPU-seconds without a kernel, though the job has a process there or had one.
        vacant_s: GPU-seconds of those that may be the job's, without any process.
        unknown_s: GPU-seconds for which the samples have no answer.
    """

    id: str
    job: str
    attempt: int = 0
    incarnation: str = ""
    node: str
    time: float
    gpus: list[GpuSpan] = []
    working_s: float = 0.0
    waiting_s: float = 0.0
    idle_s: float = 0.0
    vacant_s: float = 0.0
    unknown_s: float = 0.0
