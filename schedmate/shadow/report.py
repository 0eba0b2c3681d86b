"""Report on decisions in shadow mode: each is compared with the actual outcome, and all decisions of a kind are summarised.

What no record shows is unknown. GPU hours are counted where the records hold the number of GPUs and both ends of a time;
nothing is estimated.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field

from .facts import Facts, Shadow
from .judged import HARMED, HELPED, Instead, Judged
from .judgements import judge_drain, judge_eviction, judge_hang, judge_packing, judge_restart

SUMMARY = ("action", "cause", "decisions", "right", "wrong", "not known", "GPU hours saved", "wasted", "instead")
DECISION = (
    *("id", "action", "job", "attempt", "cause", "cause_id", "time", "node", "beneficiary", "exclude_nodes"),
    *("instead", "hours_saved", "hours_wasted", "corrected"),
)
EXPLANATION = (
    "right: somebody did the same and it helped, or what it would have ended went on: a slowdown, a hang, a wait, failures of a node. "
    "wrong: it would have been useless, or a person named another cause. GPU hours count only where the GPUs and both ends of a time are "
    "known; `+ n` means n more decisions whose hours are not."
)


_JUDGES: Mapping[str, Callable[[Shadow, Facts], Judged]] = {
    "restart": judge_restart,
    "cancel_packing": judge_packing,
    "drain": judge_drain,
    "evict": judge_eviction,
    "cancel": judge_hang,
}


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
    """Return each decision with what happened instead. Of actions that nothing can be held against, that is not known."""
    return [
        _JUDGES[one.action](one, facts) if one.action in _JUDGES else Judged(one, Instead.UNKNOWN)
        for one in facts.shadows
    ]


def summarise(judged: Iterable[Judged]) -> list[Row]:
    """Return one row an action and cause, those with most decisions first."""
    rows: dict[tuple[str, str], Row] = {}
    for one in judged:
        # The cause of these actions is the job that gains: one a decision.
        cause = "" if one.shadow.action in {"cancel_packing", "evict"} else one.shadow.cause
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


def summary(row: Row) -> tuple[object, ...]:
    """Return `row` as a person reads it, in the columns of `SUMMARY`."""
    order = sorted(row.instead.items(), key=lambda item: (-item[1], item[0]))
    instead = "; ".join(f"{count} {what}" for what, count in order)
    corrected = f" ({row.corrected} corrected)" if row.corrected else ""
    unknown = f" + {row.hours_unknown}" if row.hours_unknown else ""
    verdicts = (row.decisions, row.right, f"{row.wrong}{corrected}", row.unknown)
    return (row.action, row.cause, *verdicts, f"{row.hours_saved:.1f}{unknown}", f"{row.hours_wasted:.1f}", instead)
