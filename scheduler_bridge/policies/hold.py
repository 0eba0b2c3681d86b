"""A spot job waits that does not fit into the quota → it is held; it fits again → it is released."""

from schedmate_records import Action, BeyondQuota, Decision, JobReference, Quota, counted, decision_id

from ..settings import FURTHEST, BridgeSettings

POLICY = "hold-beyond-quota"

CAUSE = "quota"


def decide(quota: Quota, settings: BridgeSettings) -> list[Decision]:
    """Return who is to be held, and who is to be let go.

    A job is held once in an attempt: once it was let go, it starts when the scheduler likes.

    Args:
        quota: The newest one.
        settings: The modes. No job is held that the bridge could not release by itself: the mode of `release` bounds that of `hold`.
    """
    return [
        _release(quota, each, settings) if each.fits else _hold(quota, each, settings)
        for each in quota.beyond
        if each.held == each.fits
    ]


def _hold(quota: Quota, each: BeyondQuota, settings: BridgeSettings) -> Decision:
    return Decision(
        id=decision_id(Action.HOLD, JobReference(each.job, each.incarnation), each.attempt, CAUSE),
        action=Action.HOLD,
        job=each.job,
        attempt=each.attempt,
        incarnation=each.incarnation,
        time=quota.time,
        expires=quota.until,
        mode=min(settings.mode(Action.HOLD), settings.mode(Action.RELEASE), key=FURTHEST.index),
        policy=POLICY,
        reason=(
            f"The quota of spot jobs is {counted(quota.quota or 0.0, 'GPU')}, of which {quota.spot_in_use or 0:g} are in use. "
            f"Job {each.job} asks for {each.gpus:g} and does not fit."
        ),
        cause=CAUSE,
        cause_id=quota.id,
    )


def _release(quota: Quota, each: BeyondQuota, settings: BridgeSettings) -> Decision:
    why = "it fits into the quota now" if quota.quota is not None else f"there is no quota now: {quota.reason}"
    # One that expired, as all actions were stopped, is decided again.
    turn = int(quota.time // settings.ttl_seconds)
    return Decision(
        id=decision_id(Action.RELEASE, JobReference(each.job, each.incarnation), each.attempt, f"{CAUSE}@{turn}"),
        action=Action.RELEASE,
        job=each.job,
        attempt=each.attempt,
        incarnation=each.incarnation,
        time=quota.time,
        expires=quota.time + settings.ttl_seconds,
        mode=settings.mode(Action.RELEASE),
        policy=POLICY,
        reason=f"Job {each.job} was held because it was beyond the quota of spot jobs, and {why}.",
        cause=CAUSE,
        cause_id=quota.id,
    )
