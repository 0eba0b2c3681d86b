"""The report as people read it: the same words in a terminal and on the page."""

from .report import Row

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


def summary(row: Row) -> tuple[object, ...]:
    """Return `row` as a person reads it, in the columns of `SUMMARY`."""
    order = sorted(row.instead.items(), key=lambda item: (-item[1], item[0]))
    instead = "; ".join(f"{count} {what}" for what, count in order)
    corrected = f" ({row.corrected} corrected)" if row.corrected else ""
    unknown = f" + {row.hours_unknown}" if row.hours_unknown else ""
    verdicts = (row.decisions, row.right, f"{row.wrong}{corrected}", row.unknown)
    return (row.action, row.cause, *verdicts, f"{row.hours_saved:.1f}{unknown}", f"{row.hours_wasted:.1f}", instead)
