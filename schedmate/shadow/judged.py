"""One decision that was published only, and what happened instead of what it wanted."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from .facts import Facts, Shadow


class Instead(StrEnum):
    """Actual outcome."""

    ENDED_WELL = "ended well by itself"
    """The attempt did its work. No restart was needed, and the bridge, which waits for the end of a job, would have made none."""
    RERUN_ENDED_WELL = "was started again and ended well"
    """Somebody did what the decision asked for, and it helped."""
    SAME_CAUSE = "was started again and failed with the same cause"
    FAILED_OTHERWISE = "was started again and failed otherwise"
    RERUN_RUNNING = "was started again and runs"
    RERUN_UNKNOWN = "was started again; its end is not known"
    CANCELLED = "was cancelled by a person"
    LEFT = "failed and was not started again"
    RUNNING = "still runs"
    SHARED_ON = "went on sharing its GPUs"
    """Of `cancel_packing`."""
    FAILED_THERE = "more jobs failed of that node"
    """Of `drain`; this one and the next two."""
    RAN_WELL_THERE = "jobs ran well on that node"
    UNUSED = "no job started on that node"
    WAITED = "the other job waited on"
    """Of `evict`; this one and the next."""
    PLACE_CAME = "the other job soon had a place"
    HUNG_ON = "hung until it was ended"
    """Of `cancel`; this one and the next."""
    WENT_ON = "went on by itself"
    UNKNOWN = "not known"


HELPED = frozenset({Instead.RERUN_ENDED_WELL, Instead.SHARED_ON, Instead.FAILED_THERE, Instead.WAITED, Instead.HUNG_ON})
"""The action would have helped."""
HARMED = frozenset(
    {
        Instead.SAME_CAUSE,
        Instead.ENDED_WELL,
        Instead.CANCELLED,
        Instead.RAN_WELL_THERE,
        Instead.PLACE_CAME,
        Instead.WENT_ON,
    }
)
"""The action would have been useless, or against a person's will."""


@dataclass(frozen=True)
class Judged:
    """One decision and what happened instead.

    Attributes:
        shadow: The decision.
        instead: What happened.
        hours_saved: GPU hours that it would have saved: for a restart, those for which the job waited until somebody started it
            again; for the end of a packing, those that the slowed job lost while the two went on; for a drain, those of the attempts
            that failed of the node within a day; for a hung job, those until it was ended. None where not known.
        hours_wasted: GPU hours that it would have wasted: a rerun that failed with the same cause; the work of a packed job until
            then; what jobs that ended well had on the node within a day; what an evicted or cancelled job had not saved. None where
            not known.
        corrected: The cause that a person named instead of the verdict's; empty for none.
    """

    shadow: Shadow
    instead: Instead
    hours_saved: float | None = None
    hours_wasted: float | None = None
    corrected: str = ""


def corrected(shadow: Shadow, facts: Facts) -> str:
    """Return the cause that a person named instead of the decision's; empty for none."""
    named = facts.corrected.get((shadow.job, shadow.attempt), "")
    return named if named != shadow.cause else ""


def gpu_hours(gpus: float, begin: datetime, end: datetime) -> float:
    """Return the GPU hours between two times."""
    return gpus * max((end - begin).total_seconds(), 0.0) / 3600.0


def unsaved_hours(shadow: Shadow, facts: Facts) -> float | None:
    """Return the GPU hours of work that the decision's job would have lost; None where its GPUs are not known."""
    attempt = facts.attempts.get((shadow.job, shadow.attempt))
    if attempt is None or not attempt.gpus:
        return None
    return gpu_hours(attempt.gpus, facts.saved.get(shadow.id, attempt.started), shadow.time)
