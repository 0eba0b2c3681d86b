"""Would it have been right to stop a running job: to evict it for another one, or to end it because it hung?"""

from .facts import Facts, Shadow
from .judged import Instead, Judged, gpu_hours, unsaved_hours


def judge_eviction(shadow: Shadow, facts: Facts) -> Judged:
    """Hold an eviction against when the job that waited had a place without it. It saves no GPU hours: it gives them to another job."""
    lost = unsaved_hours(shadow, facts)
    waiting = _waiting(shadow)
    if waiting in facts.withdrawn:
        return Judged(shadow, Instead.UNKNOWN)
    began = facts.attempts.get(waiting)
    # A job that had a place this soon needed no eviction: evictions are decided for as long.
    soon = began is not None and (began.started - shadow.time).total_seconds() <= 300.0
    return Judged(shadow, Instead.PLACE_CAME if soon else Instead.WAITED, hours_wasted=lost)


def judge_hang(shadow: Shadow, facts: Facts) -> Judged:
    """Hold the end of a hung job against whether it ever went on."""
    hung = facts.attempts.get((shadow.job, shadow.attempt))
    if hung is None:
        return Judged(shadow, Instead.UNKNOWN)
    if hung.ended_well or shadow.id in facts.went_on:
        return Judged(shadow, Instead.WENT_ON, hours_wasted=unsaved_hours(shadow, facts))
    if hung.ended is None:
        return Judged(shadow, Instead.RUNNING)
    return Judged(shadow, Instead.HUNG_ON, gpu_hours(hung.gpus, shadow.time, hung.ended) if hung.gpus else None)


def _waiting(shadow: Shadow) -> tuple[str, int]:
    """Return the attempt for which a job should go: the cause of an eviction names it (`JOB/ATTEMPT`)."""
    attempt = shadow.cause_id.rpartition("/")[2]
    return shadow.beneficiary, int(attempt) if attempt.isdecimal() else 0
