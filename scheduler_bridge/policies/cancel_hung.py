"""A job that has hung for long, by its log and by its GPUs → it ends, and its GPUs are free."""

from schedmate_records import Action, Alarm, AlarmKind, Decision, JobReference, decision_id

from ..settings import BridgeSettings

POLICY = "cancel-hung-job"

DETAIL = 1000
"""Characters of the alarm's sentence that the decision repeats."""


def decide(alarm: Alarm, settings: BridgeSettings) -> Decision | None:
    """Return the end of a job whose hang two witnesses show for long enough, else None.

    Its log alone never suffices: a job may print nothing and compute. `activity` shows that no GPU of it computes.
    """
    if alarm.kind is not AlarmKind.HANG or not alarm.raised or alarm.activity is None:
        return None
    if alarm.value is None or not alarm.value >= settings.cancel_hung_seconds:  # so written, a NaN decides nothing
        return None
    # Carried out within 900 s or not at all: the alarm is repeated while the hang lasts.
    return Decision(
        id=decision_id(
            Action.CANCEL, JobReference(alarm.job, alarm.incarnation), alarm.attempt, f"hang@{alarm.since:.3f}"
        ),
        action=Action.CANCEL,
        job=alarm.job,
        attempt=alarm.attempt,
        incarnation=alarm.incarnation,
        time=alarm.time,
        expires=alarm.time + min(900.0, settings.ttl_seconds),
        mode=settings.mode(Action.CANCEL),
        policy=POLICY,
        reason=f"The job hangs: {alarm.detail[:DETAIL].rstrip('. ')}. Cancel it to free its GPUs.",
        cause=f"hang, GPUs {alarm.activity}",
        cause_id=alarm.id,
        evidence=alarm.evidence,
    )
