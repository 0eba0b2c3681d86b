"""How a submission ended, in the words that job events of every scheduler use."""

from typing import NamedTuple

from ..client.objects import RayJob


class Ending(NamedTuple):
    """How a job ended; fields as in `records.JobEvent`."""

    exit_code: int | None
    signal: int | None
    state: str
    detail: str


def ending(job: RayJob, node_lives: bool) -> Ending:
    """Return how a job that is over ended.

    Args:
        job: The submission.
        node_lives: The node of its driver is there.
    """
    if job.status == "SUCCEEDED":
        return Ending(0, 0, "COMPLETED", "")
    if job.status == "STOPPED":
        return Ending(None, None, "CANCELLED", "it was asked to stop")
    detail = _detail(job)
    code = job.driver_exit_code
    if code is None or job.error_type in ("JOB_SUPERVISOR_ACTOR_DIED", "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE"):
        return Ending(None, None, "FAILED" if node_lives else "NODE_FAIL", detail)
    # A shell whose command a signal ended exits with 128 and the signal's number.
    signal = -code if code < 0 else code - 128 if 128 < code <= 192 else 0
    return Ending(None if signal else code, signal, "FAILED", detail)


def _detail(job: RayJob) -> str:
    message = job.message or ""
    # Ray quotes what the job itself printed from here on.
    for quote in ("last available logs", "Traceback (most recent call last)"):
        message = message.partition(quote)[0]
    # Events repeat up to 300 characters of a message.
    text = " ".join(message.split())[:300].rstrip(" ,:")
    return f"{job.error_type}: {text}" if job.error_type else text
