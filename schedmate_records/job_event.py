"""Topics `job-events` and `pipe-events`: what happened to a job."""

from enum import StrEnum

from .base import Record
from .workload import Workload

PRODUCER = "producer"
"""`JobEvent.scheduler` of what a producer of logs reports about itself."""
PIPE = "pipe"
"""`JobEvent.scheduler` of what a pipe reports about its command. It does not count if a scheduler reports the same job."""


class EventKind(StrEnum):
    """What happened. `lines_lost` and what follows it come from producers and workers, not from a scheduler."""

    SUBMITTED = "submitted"
    STARTED = "started"
    PACKED = "packed"
    UNPACKED = "unpacked"
    REQUEUED = "requeued"
    ENDED = "ended"
    DESCRIBED = "described"
    LINES_LOST = "lines_lost"
    ID_CONFLICT = "id_conflict"
    LINES_PASSED_OVER = "lines_passed_over"
    RANK_STARTED = "rank_started"
    RANK_ENDED = "rank_ended"


PRODUCER_EVENTS: dict[str, frozenset[EventKind]] = {
    PIPE: frozenset(
        {EventKind.STARTED, EventKind.ENDED, EventKind.LINES_LOST, EventKind.RANK_STARTED, EventKind.RANK_ENDED}
    ),
    PRODUCER: frozenset({EventKind.LINES_LOST}),
}
"""What `pipe-events` may hold, by `JobEvent.scheduler`: a pipe reports the life of its own command or rank, and every producer of logs
the lines that it lost. From the ranks, the worker derives when the job started and ended. Everything else is for schedulers to report."""


class JobEvent(Record, frozen=True, kw_only=True):
    """One event in a job's life. Key: the job.

    Attributes:
        id: Identity: scheduler, job, attempt, kind and what distinguishes two of a kind.
        job: The scheduler's job id.
        attempt: Restart count at that time.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        kind: What happened.
        time: Seconds since 1970, by the scheduler's clock.
        scheduler: `slurm`, `local`, …; `pipe` for what a pipe reports about its command, `producer` for what a log producer
            reports about itself.
        nodes: Hosts of the job.
        gpus: Number of GPUs (or parts of GPUs) that the job holds, of `submitted` and `requeued` those that it asks for; null where not
            known.
        command: Command line or script name.
        directory: Working directory.
        user: User who submitted or runs it.
        branch: Version-control branch of the directory, where known.
        name: Job name, as its user chose it.
        partition: Partition or queue; several, separated by commas, while the job may start in any of them.
        account: Account that is charged.
        node_count: Nodes that it asks for, or holds; null where not known.
        cpus: CPUs of the whole job; null where not known.
        memory_gib: Memory of the whole job in GiB; null where not known.
        time_limit_s: Time limit, in seconds of running time; null for no limit, or where not known.
        workload: `submitted`: what the job trains, as its source shows; null if the source was not read. `described`: the same with what a
            language model found since; of the attempt that there was by then.
        rank: `rank_started` and `rank_ended` only: the rank that a pipe runs.
        exit_code: `ended` and `rank_ended` only.
        signal: The same: the signal that killed the job; 0 for none.
        state: `ended` only: the scheduler's own word (`FAILED`, `TIMEOUT`, `NODE_FAIL`, `OUT_OF_MEMORY`, `CANCELLED`, `COMPLETED`).
        packed_with: `packed` and `unpacked`: the job that was packed with this one, or left. Each of the two jobs gets its own event.
        newcomer: `packed` only: true for the job that was packed later, false for the one that already ran.
        lines: `lines_lost` only: number of lost lines.
        sluid: Slurm's id of this run of the job, by which its control groups may be named; empty where there is none.
        detail: Further information for people.
    """

    id: str
    job: str
    attempt: int = 0
    incarnation: str = ""
    kind: EventKind
    time: float
    scheduler: str = ""
    nodes: list[str] = []
    gpus: float | None = None
    command: str = ""
    directory: str = ""
    user: str = ""
    branch: str = ""
    name: str = ""
    partition: str = ""
    account: str = ""
    node_count: int | None = None
    cpus: float | None = None
    memory_gib: float | None = None
    time_limit_s: float | None = None
    workload: Workload | None = None
    rank: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    state: str = ""
    packed_with: str = ""
    newcomer: bool = False
    lines: int = 0
    sluid: str = ""
    detail: str = ""

    @property
    def by_producer(self) -> bool:
        """True where a pipe or another producer of logs reports it, and no scheduler: any user of the cluster can write such an event."""
        return self.scheduler in PRODUCER_EVENTS
