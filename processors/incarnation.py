"""Which job of an id a record belongs to (`schedmate_records/incarnation.py`), and when a newer one takes the id over.

Only a scheduler's event can end an incarnation that a scheduler reports. A producer of lines can begin a new one once the present one has
ended or was silent, so that a user who writes lines under an id cannot displace a running job.
"""

from enum import Enum, auto
from typing import Protocol

from prometheus_client import Counter

from schedmate_records import OWN_START, JobEvent, LogChunk, Record

FORMER = 8
"""Former incarnations that are remembered, so that their late records are recognized."""


class Belonging(Enum):
    """Relation of a record to the incarnation in a state."""

    PRESENT = auto()
    """It belongs to the present incarnation, or does not name one."""
    NAMES = auto()
    """It names the present incarnation, which was not known."""
    NEXT = auto()
    """It is the first of a newer incarnation."""
    FORMER = auto()
    """It belongs to an incarnation that has been replaced, or to one that cannot take over yet."""


class HasIncarnation(Protocol):
    """The part of a job's state that this module reads."""

    @property
    def incarnation(self) -> str:
        """The present incarnation; empty where not known."""

    @property
    def former_incarnations(self) -> list[str]:
        """Incarnations that were replaced, the oldest first."""

    @property
    def scheduled(self) -> bool:
        """Whether a scheduler reported the present incarnation."""

    @property
    def last_seen(self) -> float:
        """Time of the newest record of the present incarnation, in seconds since 1970; 0 before the first."""

    @property
    def is_over(self) -> bool:
        """Whether the newest attempt has ended."""


class IncarnationMetrics:
    """Counts of jobs whose id was used again."""

    def __init__(self) -> None:
        self.replaced = Counter("schedmate_jobs_replaced", "Jobs whose id a newer job reused.", registry=None)
        self.former = Counter(
            "schedmate_jobs_former_records",
            "Records skipped because a newer job reused the id of their job.",
            registry=None,
        )


def belonging(state: HasIncarnation, record: Record) -> Belonging:
    """Return what `record` is to the incarnation that `state` is about."""
    named: str = getattr(record, "incarnation", "")
    if not named or named == state.incarnation:
        return Belonging.PRESENT
    if named in state.former_incarnations:
        return Belonging.FORMER
    if not isinstance(record, LogChunk | JobEvent):
        return Belonging.FORMER if state.incarnation else Belonging.PRESENT
    # 60 s are several intervals of heartbeats (`streams/producers/chunker.py`).
    silent = 0 < state.last_seen < record.time - 60.0
    if isinstance(record, JobEvent) and not record.by_producer:
        known = state.scheduled and state.incarnation
        return Belonging.NEXT if known or (state.is_over and silent) else Belonging.NAMES
    # A producer's clock may be forged: of a job that a scheduler reports, only the scheduler's word on its end counts.
    return _of_producer(state, named, free=state.is_over or (silent and not state.scheduled))


def _of_producer(state: HasIncarnation, named: str, *, free: bool) -> Belonging:
    """Return the same for a chunk or an event of a producer. `free`: the present incarnation has ended or was silent."""
    own = named.startswith(OWN_START)
    if own and state.scheduled:
        return Belonging.PRESENT
    if free:
        return Belonging.NEXT
    if not state.incarnation:
        return Belonging.NAMES
    return Belonging.PRESENT if own else Belonging.FORMER
