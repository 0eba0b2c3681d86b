"""The jobs of the local scheduler."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...views import JobView, SchedulerJobState
from .process import Task


@dataclass(frozen=True, slots=True)
class StreamOutput:
    """Bytes that one stream of one rank printed; no bytes at all where the stream has ended.

    Attributes:
        job: The job.
        attempt: Its restart count.
        node: Its slot.
        rank: Its rank.
        stream: `stdout` or `stderr`.
        data: The bytes.
        time: Their arrival, in seconds since 1970.
    """

    job: str
    attempt: int
    node: str
    rank: int
    stream: str
    data: bytes
    time: float


@dataclass(slots=True)
class LocalJob:
    """A job and all that the scheduler knows of it.

    Attributes:
        job: Its id.
        command: The program and its arguments, started once a rank.
        ranks: Number of processes.
        environment: Added to the scheduler's own environment.
        directory: Working directory.
        pack_with: The job with which it asks to share a slot.
        state: Its state.
        attempt: How often it was started before.
        slot: Where it runs, or ran last; None before its first start.
        excluded: Slots that it is kept away from.
        alone: True where it must not share a slot with any job.
        tasks: Its processes, while they live.
        next: The state that it goes to once its processes have ended; None where their exit decides.
        beside: Jobs that share its slot.
        exit_code: Of the last attempt.
        signal: Of the last attempt.
        partition: Its class, by which an operator may name it.
        priority: The larger, the sooner it starts; those of one priority start in the order of their submission.
        queued: When it was put into the queue, in seconds since 1970.
        started: When it started last, in seconds since 1970.
        not_before: It does not start earlier, in seconds since 1970.
        acts: Keys of what the bridge did to it, the oldest first.
    """

    job: str
    command: tuple[str, ...]
    ranks: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: str = ""
    pack_with: str = ""
    state: SchedulerJobState = SchedulerJobState.PENDING
    attempt: int = 0
    slot: int | None = None
    excluded: frozenset[str] = frozenset()
    alone: bool = False
    tasks: list[Task] = field(default_factory=list)
    next: SchedulerJobState | None = None
    beside: set[str] = field(default_factory=set)
    exit_code: int | None = None
    signal: int = 0
    partition: str = ""
    priority: int = 0
    queued: float = 0.0
    started: float = 0.0
    not_before: float = 0.0
    acts: tuple[str, ...] = ()

    @property
    def node(self) -> str:
        """The name of its slot."""
        return "" if self.slot is None else slot_name(self.slot)

    def environment_of(self, rank: int) -> dict[str, str]:
        """Return what a process of it finds in its environment."""
        own = {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(self.ranks),
            "LOCAL_JOB_ID": self.job,
            "LOCAL_RESTART_COUNT": str(self.attempt),
            "LOCAL_NODE": self.node,
        }
        return {**os.environ, **self.environment, **own}

    def view(self) -> JobView:
        """Return the job as the bridge sees it."""
        waits = self.state in (SchedulerJobState.PENDING, SchedulerJobState.HELD)
        return JobView(
            job=self.job,
            state=self.state,
            attempt=self.attempt,
            nodes=() if waits or not self.node else (self.node,),
            excluded=tuple(sorted(self.excluded)),
            word=self.state.value.upper(),
            alone=self.alone,
            acts=self.acts,
            partition=self.partition,
            priority=self.priority,
            queued=self.queued,
        )


def slot_name(slot: int) -> str:
    """Return the node name of a slot."""
    return f"slot-{slot}"
