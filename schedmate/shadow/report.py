"""Would it have been right? Each decision is held against what happened to its job, and said to be unknown where nothing tells.

GPU hours are counted where the records hold the number of GPUs and both ends of a time; nothing is estimated.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum

from .facts import Attempt, Facts, Shadow

HOUR = 3600.0


class Instead(StrEnum):
    """What happened to the job instead."""

    ENDED_WELL = "ended well by itself"
    """The attempt did its work. No restart was needed, and the bridge, which waits for the end of a job, would have made none."""
    RERUN_ENDED_WELL = "was started again and ended well"
    """Somebody did what the decision asked for, and it helped."""
    SAME_CAUSE = "was started again and failed with the same cause"
    FAILED_OTHERWISE = "was started again and failed otherwise"
    RERUN_RUNNING = "was started again and runs"
    RERUN_UNKNOWN = "was started again; its end is not known"
    CANCELLED = "was cancelled by a person"
    LEFT = "failed and was not started again"
    RUNNING = "still runs"
    SHARED_ON = "went on sharing its GPUs"
    """Of `cancel_packing`."""
    UNKNOWN = "not known"


HELPED = frozenset({Instead.RERUN_ENDED_WELL, Instead.SHARED_ON})
"""The action would have helped."""
HARMED = frozenset({Instead.SAME_CAUSE, Instead.ENDED_WELL, Instead.CANCELLED})
"""The action would have been useless, or against a person's will."""


@dataclass(frozen=True)
class Judged:
    """One decision and what happened instead.

    Attributes:
        shadow: The decision.
        instead: What happened.
        hours_saved: GPU hours that it would have saved: for a restart, those for which the job stood still until somebody started it
            again; for the end of a packing, those that the slowed job lost while the two went on. None where not known.
        hours_wasted: GPU hours that it would have wasted: a rerun that failed with the same cause; the work of a packed job until
            then. None where not known.
        corrected: The cause that a person named instead of the verdict's; empty where nobody did.
    """

    shadow: Shadow
    instead: Instead
    hours_saved: float | None = None
    hours_wasted: float | None = None
    corrected: str = ""


@dataclass
class Row:
    """The decisions of one action and cause, together."""

    action: str
    cause: str
    decisions: int = 0
    right: int = 0
    wrong: int = 0
    unknown: int = 0
    corrected: int = 0
    hours_saved: float = 0.0
    hours_wasted: float = 0.0
    hours_unknown: int = 0
    """Decisions that were right or wrong and whose hours are not known."""
    instead: dict[str, int] = field(default_factory=dict)


def judge(facts: Facts) -> list[Judged]:
    """Return each decision with what happened instead."""
    return [_packing(one, facts) if one.action == "cancel_packing" else _restart(one, facts) for one in facts.shadows]


def summarise(judged: Iterable[Judged]) -> list[Row]:
    """Return one row an action and cause, those with most decisions first."""
    rows: dict[tuple[str, str], Row] = {}
    for one in judged:
        # The cause of a packing is its victim, one a packing.
        cause = "" if one.shadow.action == "cancel_packing" else one.shadow.cause
        row = rows.setdefault((one.shadow.action, cause), Row(one.shadow.action, cause))
        right, wrong = one.instead in HELPED, one.instead in HARMED or bool(one.corrected)
        row.decisions += 1
        row.right += right and not wrong
        row.wrong += wrong
        row.unknown += not right and not wrong
        row.corrected += bool(one.corrected)
        row.hours_saved += one.hours_saved or 0.0
        row.hours_wasted += one.hours_wasted or 0.0
        row.hours_unknown += (right or wrong) and one.hours_saved is None and one.hours_wasted is None
        row.instead[one.instead] = row.instead.get(one.instead, 0) + 1
    return sorted(rows.values(), key=lambda row: (-row.decisions, row.action, row.cause))


def as_row(one: Judged) -> dict[str, object]:
    """Return one decision and what happened instead, by column."""
    more = {"instead": one.instead.value, "hours_saved": one.hours_saved, "hours_wasted": one.hours_wasted}
    return {**asdict(one.shadow), **more, "corrected": one.corrected}


def _restart(shadow: Shadow, facts: Facts) -> Judged:
    failed = facts.attempts.get((shadow.job, shadow.attempt))
    said = facts.corrected.get((shadow.job, shadow.attempt), "")
    corrected = said if said != shadow.cause else ""
    if failed is None:
        return Judged(shadow, Instead.UNKNOWN, corrected=corrected)
    rerun = _rerun(shadow, failed, facts)
    if rerun is None:
        return Judged(shadow, _alone(failed), corrected=corrected, **_no_hours(failed))
    instead = _of_rerun(rerun, shadow)
    saved = wasted = None
    if instead is Instead.RERUN_ENDED_WELL and failed.ended and failed.gpus:
        saved = _gpu_hours(failed.gpus, max(failed.ended, shadow.time), rerun.started)
    if instead is Instead.SAME_CAUSE and rerun.gpus and rerun.ended:
        wasted = _gpu_hours(rerun.gpus, rerun.started, rerun.ended)
    return Judged(shadow, instead, saved, wasted, corrected)


def _no_hours(failed: Attempt) -> dict[str, float]:
    """Return the hours of a decision that would have come to nothing: the bridge restarts no job that ended well or was cancelled."""
    return {"hours_saved": 0.0, "hours_wasted": 0.0} if failed.ended_well or failed.cancelled else {}


def _rerun(shadow: Shadow, failed: Attempt, facts: Facts) -> Attempt | None:
    """Return the attempt that came next: of the job, or of the same work submitted again after its end."""
    if following := facts.attempts.get((shadow.job, shadow.attempt + 1)):
        return following
    again = facts.attempts.get((facts.successors.get(shadow.job, ""), 0))
    return again if again and failed.ended and again.started >= failed.ended else None


def _alone(failed: Attempt) -> Instead:
    if failed.ended is None:
        return Instead.RUNNING
    if failed.ended_well:
        return Instead.ENDED_WELL
    if failed.cancelled:
        return Instead.CANCELLED
    return Instead.LEFT if failed.state or failed.exit_code is not None else Instead.UNKNOWN


def _of_rerun(rerun: Attempt, shadow: Shadow) -> Instead:
    if rerun.cause and rerun.cause == shadow.cause:
        return Instead.SAME_CAUSE
    if rerun.ended is None:
        return Instead.RERUN_RUNNING
    if rerun.ended_well:
        return Instead.RERUN_ENDED_WELL
    return Instead.FAILED_OTHERWISE if rerun.state or rerun.cause else Instead.RERUN_UNKNOWN


def _packing(shadow: Shadow, facts: Facts) -> Judged:
    """Hold the end of a packing against how long the two went on together."""
    victim = facts.attempts.get((shadow.beneficiary, shadow.attempt))
    running = [one for one in facts.attempts.values() if one.job == shadow.job and one.started <= shadow.time]
    packed = max(running, key=lambda one: one.started, default=None)
    if victim is None or packed is None:
        return Judged(shadow, Instead.UNKNOWN)
    ends = [one.ended for one in (victim, packed) if one.ended]
    ratio = facts.ratios.get(shadow.cause_id)
    wasted = _gpu_hours(packed.gpus, packed.started, shadow.time) if packed.gpus else None
    if not ends:
        return Judged(shadow, Instead.RUNNING, hours_wasted=wasted)
    saved = None
    if ratio is not None and victim.gpus:
        saved = _gpu_hours(victim.gpus, shadow.time, min(ends)) * (1 - ratio)
    return Judged(shadow, Instead.SHARED_ON, saved, wasted)


def _gpu_hours(gpus: float, begin: datetime, end: datetime) -> float:
    return gpus * max((end - begin).total_seconds(), 0.0) / HOUR
