"""Required state of a job at the scheduler before an action."""

from schedmate_records import Action, Decision, same_incarnation

from ..act_keys import act_key
from ..schedulers import JobView, SchedulerJobState
from .base import Objection, Wait

NAME = "job-state"


def objection_of_state(decision: Decision, job: JobView | None, beneficiary: JobView | None) -> Objection | Wait | None:
    """Return why the job's state forbids the action, or what to wait for; None where it may go ahead.

    Args:
        decision: What should be done.
        job: The job to act on, as the scheduler shows it now; None where the scheduler does not know it.
        beneficiary: The job that would gain; None where there is none or the scheduler does not know it.
    """
    if job is None:
        return Objection(NAME, f"the scheduler does not know job {decision.job}: submit it again by hand")
    if not same_incarnation(decision.incarnation, job.incarnation):
        return Objection(NAME, f"job {job.job} is {job.incarnation} now, the decision is about {decision.incarnation}")
    if act_key(decision) in job.acts:
        return Objection("once", f"the scheduler's record of job {job.job} shows that this was carried out before")
    if decision.action is Action.RESTART:
        return _restart(decision, job)
    if decision.action in (Action.HOLD, Action.RELEASE):
        return _moved_on(decision, job) or _hold(decision, job)
    return _running(decision, job, beneficiary) or objection_of_gain(decision, beneficiary)


def objection_of_gain(decision: Decision, beneficiary: JobView | None) -> Objection | None:
    """Object where the job for which another one shall go does not wait any more, not even in part: it may need the places of several."""
    if decision.action is not Action.EVICT or not decision.beneficiary:
        return None
    in_part = beneficiary and beneficiary.state is SchedulerJobState.RUNNING and beneficiary.lacks_places
    if beneficiary is None or not (beneficiary.state is SchedulerJobState.PENDING or in_part):
        word = beneficiary.word or beneficiary.state if beneficiary else "unknown"
        return Objection(NAME, f"job {decision.beneficiary}, for which it would be evicted, no longer waits ({word})")
    return None


def _running(decision: Decision, job: JobView, beneficiary: JobView | None) -> Objection | None:
    if job.state is not SchedulerJobState.RUNNING:
        return Objection(NAME, f"job {job.job} does not run ({job.word or job.state})")
    if decision.action is Action.CANCEL_PACKING:
        return _cancel_packing(decision, job, beneficiary)
    return _moved_on(decision, job)


def _moved_on(decision: Decision, job: JobView) -> Objection | None:
    if job.attempt == decision.attempt:
        return None
    return Objection(
        NAME, f"job {job.job} is in attempt {job.attempt}, the decision is about attempt {decision.attempt}"
    )


def _restart(decision: Decision, job: JobView) -> Objection | Wait | None:
    """Return None only for an attempt of which the scheduler itself reports that it failed, whatever verdicts claim about its end."""
    word = job.word or job.state.value
    if forbidden := _moved_on(decision, job) or _opted_out(job):
        return forbidden
    if job.state is SchedulerJobState.FAILED:
        return None
    if job.state is SchedulerJobState.CANCELLED:
        return Objection(NAME, f"job {job.job} was cancelled by a person ({word})")
    if job.state is SchedulerJobState.HELD:
        return Objection(NAME, f"job {job.job} is held in the queue by a person ({word})")
    if job.state is SchedulerJobState.COMPLETED:
        return Objection(NAME, f"job {job.job} ended with exit code 0 ({word})")
    # A job is never stopped because one of its lines looked bad.
    return Wait(f"job {job.job} has not stopped ({word})")


def _opted_out(job: JobView) -> Objection | None:
    return Objection(NAME, f"the user of job {job.job} disabled restarts") if job.opted_out else None


def _hold(decision: Decision, job: JobView) -> Objection | None:
    word = job.word or job.state.value
    if decision.action is Action.HOLD:
        fits = job.state is SchedulerJobState.PENDING
        return None if fits else Objection(NAME, f"job {job.job} does not wait in the queue ({word})")
    if job.state is not SchedulerJobState.HELD:
        return Objection(NAME, f"job {job.job} is not held ({word})")
    if not job.acts or not job.acts[-1].startswith(f"{Action.HOLD}/"):
        return Objection(NAME, f"job {job.job} is held by another user ({word})")
    return None


def _cancel_packing(decision: Decision, job: JobView, beneficiary: JobView | None) -> Objection | None:
    if job.alone:
        return Objection(NAME, f"job {job.job} has its GPUs to itself")
    if not decision.beneficiary:
        return None
    if beneficiary is None or beneficiary.state is not SchedulerJobState.RUNNING:
        return Objection(NAME, f"job {decision.beneficiary}, which would benefit, does not run")
    if beneficiary.attempt != decision.attempt:
        return Objection(NAME, f"job {decision.beneficiary}, which would benefit, was restarted since")
    if not set(job.nodes) & set(beneficiary.nodes):
        return Objection(NAME, f"jobs {job.job} and {decision.beneficiary} no longer share a node")
    return None
