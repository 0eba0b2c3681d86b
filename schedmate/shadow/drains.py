"""Would a drain have been right? It is held against what ran on the node in the day after."""

from collections.abc import Iterable

from .facts import Attempt, Facts, Shadow
from .judged import Instead, Judged, corrected, gpu_hours


def judge_drain(shadow: Shadow, facts: Facts) -> Judged:
    """Compare a drain with the attempts that began on the node within a day. One that failed of it outweighs many that did not."""
    began = facts.afterwards.get(shadow.id, [])
    failed = [one for one in began if one.error_type == "infrastructure" and one.blamed == shadow.node]
    well = [one for one in began if one.ended_well]
    if failed:
        return Judged(shadow, Instead.FAILED_THERE, hours_saved=_hours(failed), corrected=corrected(shadow, facts))
    if well:
        return Judged(
            shadow, Instead.RAN_WELL_THERE, hours_wasted=_hours(well, shared=True), corrected=corrected(shadow, facts)
        )
    return Judged(shadow, Instead.UNKNOWN if began else Instead.UNUSED, corrected=corrected(shadow, facts))


def _hours(attempts: Iterable[Attempt], *, shared: bool = False) -> float | None:
    """Return GPU hours of attempts; None where those of one are not known. `shared`: what each had of one of its nodes."""
    hours = 0.0
    for one in attempts:
        if not one.gpus or one.ended is None:
            return None
        hours += gpu_hours(one.gpus / (len(one.nodes) if shared else 1), one.started, one.ended)
    return hours
