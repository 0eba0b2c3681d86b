"""Effects of actions: how each is carried out and checked."""

from typing import assert_never

from schedmate_records import Action, Decision

from .act_keys import act_key
from .schedulers import Actuator, ActuatorError, JobView, NodeView, SchedulerJobState, SchedulerNodeState


def carry_out(  # noqa: PLR0911  # one line an action
    actuator: Actuator, decision: Decision, yields: float = 0.0, saved: str = ""
) -> JobView | NodeView | None:
    """Carry a decision out now, and return what the scheduler then shows. Raises what the actuator raises.

    Args:
        actuator: The scheduler.
        decision: What to do.
        yields: Seconds that a job which is evicted for another one leaves the other to take its place.
        saved: Where a job that is evicted has saved since that was decided; empty for nowhere.
    """
    key = act_key(decision)
    match decision.action:
        case Action.RESTART:
            return _restart(actuator, decision, key)
        case Action.CANCEL_PACKING:
            return actuator.cancel_packing(decision.job, key)
        case Action.EVICT:
            return _evict(
                actuator, decision, key, saved or decision.checkpoint, yields if decision.beneficiary else 0.0
            )
        case Action.CANCEL:
            return actuator.cancel(decision.job, key)
        case Action.HOLD:
            return actuator.hold(decision.job, key)
        case Action.RELEASE:
            return actuator.release(decision.job, key)
        case Action.DRAIN:
            return actuator.drain(decision.node, _drain_reason(decision), key)
        case Action.UNDRAIN:
            return actuator.undrain(decision.node, key)
        case Action.NOTIFY:
            return None
        case _:
            assert_never(decision.action)


def shows(decision: Decision, seen: JobView | NodeView | None) -> bool:
    """True where the scheduler shows all that the decision wanted."""
    if decision.action is Action.NOTIFY:
        return True
    if isinstance(seen, NodeView):
        return _node_shows(decision, seen)
    return seen is not None and _job_shows(decision, seen)


def drains(decision: Decision, seen: JobView | NodeView | None) -> bool:
    """True while a node that the decision drained is not empty yet."""
    return (
        isinstance(seen, NodeView)
        and seen.state is SchedulerNodeState.DRAINING
        and seen.drained_by == act_key(decision)
    )


def is_half_done(decision: Decision, job: JobView) -> bool:
    """True where the act was cut off after it had stopped the job, and before it let it go."""
    if job.state not in (SchedulerJobState.HELD, SchedulerJobState.STOPPING):
        return False
    if decision.action is Action.CANCEL_PACKING:  # its attempt is the beneficiary's
        return act_key(decision) in job.acts
    ours = job.interrupted or act_key(decision) in job.acts
    return decision.action in (Action.RESTART, Action.EVICT) and job.attempt == decision.attempt + 1 and ours


def is_undecided(decision: Decision, job: JobView) -> bool:
    """True while the state of a job does not show whether it is on its way to its next attempt or at the end of that one."""
    return (
        decision.action in (Action.RESTART, Action.EVICT)
        and job.state is SchedulerJobState.STOPPING
        and job.attempt > decision.attempt
        and not job.interrupted
    )


def is_signalled_first(actuator: Actuator, decision: Decision) -> bool:
    """True where a job that is to be evicted is asked to save a checkpoint first: the decision asks for it, and the scheduler can."""
    return decision.action is Action.EVICT and decision.grace_s > 0 and actuator.can_signal()


def is_in_grace(actuator: Actuator, decision: Decision, job: JobView) -> bool:
    """True while the only thing done to a job is the request to save a checkpoint."""
    return (
        is_signalled_first(actuator, decision)
        and job.attempt == decision.attempt
        and job.state is not SchedulerJobState.HELD
        and act_key(decision) not in job.acts
    )


def _restart(actuator: Actuator, decision: Decision, key: str) -> JobView:
    """Queue a failed job again, unless it has moved on since it was examined: writing down that the act begins may take a while."""
    job = actuator.job(decision.job)
    failed = job and job.state is SchedulerJobState.FAILED and job.attempt == decision.attempt
    if not (failed or (job and is_half_done(decision, job))):
        came = f"attempt {job.attempt} is {job.word or job.state}" if job else "the scheduler does not know it"
        raise ActuatorError(f"a failed attempt {decision.attempt} of job {decision.job}", came, "nothing was done")
    return actuator.restart(decision.job, tuple(decision.exclude_nodes), key, decision.checkpoint)


def _evict(actuator: Actuator, decision: Decision, key: str, checkpoint: str, delay: float) -> JobView:
    """Stop a job and queue it again. One that does not know the signal to save a checkpoint may have died of it."""
    job = actuator.job(decision.job) if is_signalled_first(actuator, decision) else None
    died = job is not None and job.attempt == decision.attempt and job.state is SchedulerJobState.FAILED
    if job and (died or job.interrupted):
        return actuator.restart(decision.job, (), key, checkpoint)
    return actuator.evict(decision.job, key, checkpoint, delay)


def _job_shows(decision: Decision, job: JobView) -> bool:
    noted, held = act_key(decision) in job.acts, job.state is SchedulerJobState.HELD
    match decision.action:
        case Action.HOLD:
            return held and noted
        case Action.RELEASE:
            return not held and noted
        case Action.CANCEL:
            return job.state is SchedulerJobState.CANCELLED and job.attempt == decision.attempt
        case Action.CANCEL_PACKING:
            return not held and job.alone
        case _:
            avoided = set(decision.exclude_nodes)
            elsewhere = avoided <= set(job.excluded) and not avoided & set(job.nodes)
            held = held or job.state is SchedulerJobState.STOPPING  # it may come to rest held
            return not held and not job.interrupted and job.attempt > decision.attempt and elsewhere


def _node_shows(decision: Decision, node: NodeView) -> bool:
    if decision.action is Action.UNDRAIN:
        return not node.drained_by and act_key(decision) in node.acts
    return node.state is SchedulerNodeState.DRAINED and node.drained_by == act_key(decision)


def _drain_reason(decision: Decision) -> str:
    """Return what an administrator reads at the node: names alone, nothing that a job printed."""
    text = f"{decision.cause} (job {decision.job})" if decision.job else decision.cause
    return "".join(letter for letter in text if letter.isprintable() and letter not in "\"'`$\\=;|&<>")[:200]
