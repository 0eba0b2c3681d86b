"""Would the end of a packing have been right? It is held against how long the two jobs went on together."""

from .facts import Facts, Shadow
from .judged import Instead, Judged, gpu_hours


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
