"""Compares decisions that were not carried out with what happened to their jobs and nodes."""

from collections.abc import Iterable

from .facts import Attempt, Facts, Shadow
from .judged import Instead, Judged, corrected, gpu_hours, unsaved_hours


def judge_restart(shadow: Shadow, facts: Facts) -> Judged:
    """Hold a restart against the attempt that came next: of the job, or of the same work submitted again."""
    failed = facts.attempts.get((shadow.job, shadow.attempt))
    named = corrected(shadow, facts)
    if failed is None:
        return Judged(shadow, Instead.UNKNOWN, corrected=named)
    rerun = _rerun(shadow, failed, facts)
    if rerun is None:
        return Judged(shadow, _alone(failed), corrected=named, **_no_hours(failed))
    instead = _of_rerun(rerun, shadow)
    saved = wasted = None
    if instead is Instead.RERUN_ENDED_WELL and failed.ended and failed.gpus:
        saved = gpu_hours(failed.gpus, max(failed.ended, shadow.time), rerun.started)
    if instead is Instead.SAME_CAUSE and rerun.gpus and rerun.ended:
        wasted = gpu_hours(rerun.gpus, rerun.started, rerun.ended)
    return Judged(shadow, instead, saved, wasted, named)


def _no_hours(failed: Attempt) -> dict[str, float]:
    """Return the hours of a decision that would have come to nothing: the bridge restarts no job that ended well or was cancelled."""
    return {"hours_saved": 0.0, "hours_wasted": 0.0} if failed.ended_well or failed.cancelled else {}


def _rerun(shadow: Shadow, failed: Attempt, facts: Facts) -> Attempt | None:
    """Return the attempt that came next: of the job, or of the same work submitted again after its end."""
    if following := facts.attempts.get((shadow.job, shadow.attempt + 1)):
        return following
    again = facts.attempts.get((facts.successors.get(shadow.job, ""), 0))
    return again if again and failed.ended and again.started >= failed.ended else None


def _alone(failed: Attempt) -> Instead:
    if failed.ended is None:
        return Instead.RUNNING
    if failed.ended_well:
        return Instead.ENDED_WELL
    if failed.cancelled:
        return Instead.CANCELLED
    return Instead.LEFT if failed.state or failed.exit_code is not None else Instead.UNKNOWN


def _of_rerun(rerun: Attempt, shadow: Shadow) -> Instead:
    if rerun.cause and rerun.cause == shadow.cause:
        return Instead.SAME_CAUSE
    if rerun.ended is None:
        return Instead.RERUN_RUNNING
    if rerun.ended_well:
        return Instead.RERUN_ENDED_WELL
    return Instead.FAILED_OTHERWISE if rerun.state or rerun.cause else Instead.RERUN_UNKNOWN


def judge_drain(shadow: Shadow, facts: Facts) -> Judged:
    """Compare a drain with the attempts that began on the node within a day. One that failed of it outweighs many that did not."""
    began = facts.afterwards.get(shadow.id, [])
    failed = [one for one in began if one.error_type == "infrastructure" and one.blamed == shadow.node]
    well = [one for one in began if one.ended_well]
    if failed:
        return Judged(shadow, Instead.FAILED_THERE, hours_saved=_hours(failed), corrected=corrected(shadow, facts))
    if well:
        return Judged(
            shadow, Instead.RAN_WELL_THERE, hours_wasted=_hours(well, shared=True), corrected=corrected(shadow, facts)
        )
    return Judged(shadow, Instead.UNKNOWN if began else Instead.UNUSED, corrected=corrected(shadow, facts))


def _hours(attempts: Iterable[Attempt], *, shared: bool = False) -> float | None:
    """Return GPU hours of attempts; None where those of one are not known. `shared`: what each had of one of its nodes."""
    hours = 0.0
    for one in attempts:
        if not one.gpus or one.ended is None:
            return None
        hours += gpu_hours(one.gpus / (len(one.nodes) if shared else 1), one.started, one.ended)
    return hours


def judge_packing(shadow: Shadow, facts: Facts) -> Judged:
    """Hold the end of a packing against how long the two went on together."""
    victim = facts.attempts.get((shadow.beneficiary, shadow.attempt))
    running = [one for one in facts.attempts.values() if one.job == shadow.job and one.started <= shadow.time]
    packed = max(running, key=lambda one: one.started, default=None)
    if victim is None or packed is None:
        return Judged(shadow, Instead.UNKNOWN)
    ends = [one.ended for one in (victim, packed) if one.ended]
    ratio = facts.ratios.get(shadow.cause_id)
    wasted = gpu_hours(packed.gpus, packed.started, shadow.time) if packed.gpus else None
    if not ends:
        return Judged(shadow, Instead.RUNNING, hours_wasted=wasted)
    saved = None
    if ratio is not None and victim.gpus:
        saved = gpu_hours(victim.gpus, shadow.time, min(ends)) * (1 - ratio)
    return Judged(shadow, Instead.SHARED_ON, saved, wasted)


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
