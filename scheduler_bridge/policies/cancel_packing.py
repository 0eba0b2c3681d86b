"""A job that another one slows too much → the job packed later goes back to the queue, never to be packed again (SchedMate §4.1)."""

from schedmate_records import Action, Decision, Slowdown, decision_id

from ..settings import BridgeSettings


def decide(slowdown: Slowdown, settings: BridgeSettings) -> Decision | None:
    """Return the end of a packing whose victim runs below the threshold, else None.

    `attempt` is the victim's (the beneficiary's): the decision is about this packing, and one of them restarted ends it.
    """
    if not 0 < slowdown.ratio < slowdown.threshold or not slowdown.packed_job or slowdown.packed_job == slowdown.job:
        return None
    if slowdown.recovered is not None:  # the packing has ended
        return None
    return Decision(
        id=decision_id(Action.CANCEL_PACKING, slowdown.packed_job, slowdown.attempt, slowdown.id),
        action=Action.CANCEL_PACKING,
        job=slowdown.packed_job,
        attempt=slowdown.attempt,
        time=slowdown.time,
        expires=slowdown.time + settings.ttl_seconds,
        mode=settings.mode(Action.CANCEL_PACKING),
        policy="cancel-packing-on-slowdown",
        reason=(
            f"Since job {slowdown.packed_job} was packed with it, job {slowdown.job} runs at {slowdown.ratio:.0%} of its speed "
            f"({slowdown.before_s:.3g} s a step before, {slowdown.after_s:.3g} s now; the limit is {slowdown.threshold:.0%})."
        ),
        cause=slowdown.job,
        cause_id=slowdown.id,
        beneficiary=slowdown.job,
        evidence=slowdown.evidence,
    )
