"""Events of local jobs."""

import os

from schedmate_records import EventKind, JobEvent

from .jobs import LocalJob


def event_of(
    job: LocalJob,
    kind: EventKind,
    time: float,
    *,
    partner: LocalJob | None = None,
    newcomer: bool = False,
    exit_code: int | None = None,
    signal: int | None = None,
    state: str = "",
) -> JobEvent:
    """Return the event.

    Args:
        job: The job.
        kind: What happens.
        time: Seconds since 1970.
        partner: The job with which it is packed, or was.
        newcomer: Whether it came to the slot after its partner.
        exit_code: Where it ended.
        signal: The signal that ended it; 0: none.
        state: In the scheduler's own word, where it ended.
    """
    waits = kind in (EventKind.SUBMITTED, EventKind.REQUEUED)
    suffix = f"/{partner.job}/{partner.attempt}" if partner else ""
    return JobEvent(
        id=f"local/{job.job}/{job.attempt}/{kind}{suffix}",
        job=job.job,
        attempt=job.attempt,
        kind=kind,
        time=time,
        scheduler="local",
        nodes=[] if waits or not job.node else [job.node],
        command=" ".join(job.command),
        directory=job.directory or os.getcwd(),  # noqa: PTH109 - a string is wanted
        exit_code=exit_code,
        signal=signal,
        state=state,
        packed_with=partner.job if partner else "",
        newcomer=newcomer,
    )
