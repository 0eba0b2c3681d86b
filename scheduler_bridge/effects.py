"""Is the effect of a decision there? Asked after a crash, when nobody knows whether the action was carried out."""

from records import Action, Decision
from scheduler_bridge.actuators import JobView, SchedulerJobState


def shows(decision: Decision, job: JobView | None) -> bool:
    """True where the scheduler shows all that the decision wanted."""
    if job is None or job.state is SchedulerJobState.HELD:
        return False
    if decision.action is Action.CANCEL_PACKING:
        return job.alone
    return job.attempt > decision.attempt and set(decision.exclude_nodes) <= set(job.excluded)
