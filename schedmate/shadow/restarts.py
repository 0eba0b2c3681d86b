"""Would a restart have been right? It is held against what became of the job without it."""

from .facts import Attempt, Facts, Shadow
from .judged import Instead, Judged, corrected, gpu_hours


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
