"""Cancels a job whose alarm has lasted for long: one that hangs, or one that does not use its GPUs."""

from schedmate_records import Action, Alarm, AlarmKind, Decision, GpuState, JobReference, decision_id

from ..settings import BridgeSettings

HUNG, IDLE = "cancel-hung-job", "cancel-idle-job"


def decide(alarm: Alarm, settings: BridgeSettings) -> Decision | None:
    """Return the cancellation of a job that hangs or whose GPUs are idle for long enough, else None.

    A job hangs only where its log and its GPUs show it: a job may print nothing and compute. An idle job's user was notified twice before.
    """
    if not alarm.raised or alarm.value is None or alarm.activity is None:
        return None
    detail = alarm.detail[:1000].rstrip(". ")  # a decision repeats no more of the alarm's sentence
    if alarm.kind is AlarmKind.HANG:
        after = settings.cancel_hung_seconds
        policy, cause, key = HUNG, f"hang, GPUs {alarm.activity}", "hang"
        reason = f"The job hangs: {detail}. Cancel it to free its GPUs."
    elif alarm.kind is AlarmKind.GPUS_IDLE and alarm.activity is GpuState.IDLE:
        if not settings.cancel_idle_seconds or alarm.limit is None:
            return None
        # Idle time of the third alarm, as a multiple of that of the first: an alarm is repeated when it has lasted twice as long.
        after = max(settings.cancel_idle_seconds, 4.0 * alarm.limit)
        policy, cause, key = IDLE, "idle GPUs", "idle"
        reason = f"The job does not use its GPUs: {detail}. Cancel it to free them."
    else:
        return None
    if not alarm.value >= after:  # so written, a NaN decides nothing
        return None
    job = JobReference(alarm.job, alarm.incarnation)
    # Carried out within 900 s or not at all: the alarm is repeated while it lasts.
    return Decision(
        id=decision_id(Action.CANCEL, job, alarm.attempt, f"{key}@{alarm.since:.3f}"),
        action=Action.CANCEL,
        job=alarm.job,
        attempt=alarm.attempt,
        incarnation=alarm.incarnation,
        time=alarm.time,
        expires=alarm.time + min(900.0, settings.ttl_seconds),
        mode=settings.mode(Action.CANCEL),
        policy=policy,
        reason=reason,
        cause=cause,
        cause_id=alarm.id,
        evidence=alarm.evidence,
    )
