"""Request of a job, and its state."""

from dataclasses import dataclass
from enum import Enum, IntEnum

import msgspec


class JobClass(Enum):
    """Whether a job may be evicted (GFS, section 1): high-priority jobs never are, spot jobs are."""

    HP = "hp"
    SPOT = "spot"


class PackedWorkload(msgspec.Struct, frozen=True):
    """Workload of a job, as packing measurements distinguish it.

    Attributes:
        model: Name of the model.
        dataset: Name of the data set.
        batch_size: Samples a step.
        amp: Trained in mixed precision.
    """

    model: str
    dataset: str = ""
    batch_size: int = 0
    amp: bool = False


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One job of a trace.

    Attributes:
        job_id: Its name in the trace.
        submit_s: When it was submitted, in seconds.
        duration_s: Work: seconds that it runs alone on its GPUs until it ends, whatever its end is.
        gpus: GPUs of each pod; below 1 a share of one GPU. Policies with consolidated placement split a pod that exceeds a node.
        pods: Pods, which start together or not at all (a gang).
        partition: The virtual cluster whose nodes it may use.
        user: Who submitted it: a user or an organisation.
        gpu_type: The GPU model it needs; empty: any.
        job_class: Whether it may be evicted.
        estimate_s: What its duration was thought to be at submission; None where nothing is known.
        checkpoint_every_s: Work between two checkpoints. 0: it saves whenever it is asked to; infinite: it never saves.
        workload: What it trains, for packing.
        memory_mib: GPU memory of each of its GPUs, in MiB.
    """

    job_id: str
    submit_s: float
    duration_s: float
    gpus: float = 1
    pods: int = 1
    partition: str = ""
    user: str = ""
    gpu_type: str = ""
    job_class: JobClass = JobClass.HP
    estimate_s: float | None = None
    checkpoint_every_s: float = 0.0
    workload: PackedWorkload | None = None
    memory_mib: float = 0.0

    @property
    def total_gpus(self) -> float:
        """GPUs of all pods."""
        return self.gpus * self.pods


class Status(IntEnum):
    """The status of a job."""

    WAITING = 0
    RUNNING = 1
    LEAVING = 2
    """Evicted, and still in its grace period; or ended by a fault, and not yet queued again."""
    ENDED = 3


@dataclass(slots=True, frozen=True)
class Slice:
    """The GPUs that a job has on one node.

    Attributes:
        node: Index of the node.
        gpus: Indices of the GPUs on it.
        share: What it has of each: 1, or below 1 of a single GPU.
    """

    node: int
    gpus: tuple[int, ...]
    share: float = 1.0


class Run:
    """A job in a simulation: its progress and its times, all in seconds.

    Attributes:
        job: What was asked for.
        order: Its place in the trace: the last word where jobs are equal.
        status: Its status.
        placement: The GPUs that it has.
        rate: Work done a second: 1 alone, below 1 when packed.
        left_at_start: Work left when its present run started.
        work_left: Work left when `since` was.
        overhead: Restart time left when `since` was; it is spent before work goes on.
        since: When progress was last accounted.
        first_start: When it first started; None before that.
        started: When its present run started.
        ended: When it ended; None before that.
        waiting_since: Since when it waits.
        queued: Seconds it has waited, over all its waits.
        runs: How often it started.
        evictions: How often it was preempted or evicted.
        faults: How often a node's fault ended its run.
        lost: Work lost with what came after its last checkpoint.
        packed_with: The job that shares its GPUs.
        version: Counts changes of its end; an event of an older version is void.
    """

    __slots__ = (
        "ended",
        "evictions",
        "faults",
        "first_start",
        "job",
        "left_at_start",
        "lost",
        "order",
        "overhead",
        "packed_with",
        "placement",
        "queued",
        "rate",
        "runs",
        "since",
        "started",
        "status",
        "version",
        "waiting_since",
        "work_left",
    )

    def __init__(self, job: Job, order: int) -> None:
        self.job = job
        self.order = order
        self.status = Status.WAITING
        self.placement: tuple[Slice, ...] = ()
        self.rate = 1.0
        self.work_left = job.duration_s
        self.left_at_start = job.duration_s
        self.overhead = 0.0
        self.since = job.submit_s
        self.first_start: float | None = None
        self.started = job.submit_s
        self.ended: float | None = None
        self.waiting_since = job.submit_s
        self.queued = 0.0
        self.runs = 0
        self.evictions = 0
        self.faults = 0
        self.lost = 0.0
        self.packed_with: Run | None = None
        self.version = 0

    def remaining(self, now: float) -> float:
        """Return the seconds it would still take at full speed, restart time included."""
        left = self.overhead + self.work_left
        if self.status is Status.RUNNING:
            restart = min(self.overhead, now - self.since)
            left -= restart + (now - self.since - restart) * self.rate
        return max(0.0, left)

    def account(self, now: float) -> None:
        """Bring progress up to `now`. A restart takes its time at whatever speed work then goes on."""
        restart = min(self.overhead, now - self.since)
        self.overhead -= restart
        self.work_left = max(0.0, self.work_left - (now - self.since - restart) * self.rate)
        self.since = now

    def unsaved(self, now: float) -> float:
        """Return the work done since the last checkpoint, which an eviction now would lose."""
        every = self.job.checkpoint_every_s
        if every == 0:
            return 0.0
        left = self.work_left
        if self.status is Status.RUNNING:
            left = max(0.0, left - max(0.0, now - self.since - self.overhead) * self.rate)
        done = self.job.duration_s - left
        return done % every if every != float("inf") else done
