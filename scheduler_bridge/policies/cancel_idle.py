"""Cancels a job whose GPUs have all been idle for long, after its user was notified twice."""

from schedmate_records import Action, Alarm, AlarmKind, Decision, GpuState, JobReference, decision_id

from ..settings import BridgeSettings

POLICY = "cancel-idle-job"
DETAIL = 1000
"""Characters of the alarm's sentence that the decision repeats."""


def decide(alarm: Alarm, settings: BridgeSettings) -> Decision | None:
    """Return the cancellation of a job if all its GPUs have been idle for `cancel_idle_seconds`, and this is at least its third alarm.

    Decides nothing where the setting is 0.
    """
    if alarm.kind is not AlarmKind.GPUS_IDLE or not alarm.raised or alarm.activity is not GpuState.IDLE:
        return None
    if not settings.cancel_idle_seconds or alarm.value is None or alarm.limit is None:
        return None
    # Idle time of the third alarm, as a multiple of that of the first: an alarm is repeated when it has lasted twice as long.
    if not alarm.value >= max(settings.cancel_idle_seconds, 4.0 * alarm.limit):  # so written, a NaN decides nothing
        return None
    return Decision(
        id=decision_id(
            Action.CANCEL, JobReference(alarm.job, alarm.incarnation), alarm.attempt, f"idle@{alarm.since:.3f}"
        ),
        action=Action.CANCEL,
        job=alarm.job,
        attempt=alarm.attempt,
        incarnation=alarm.incarnation,
        time=alarm.time,
        expires=alarm.time + min(900.0, settings.ttl_seconds),
        mode=settings.mode(Action.CANCEL),
        policy=POLICY,
        reason=f"The job does not use its GPUs: {alarm.detail[:DETAIL].rstrip('. ')}. Cancel it to free them.",
        cause="idle GPUs",
        cause_id=alarm.id,
        evidence=alarm.evidence,
    )
