"""How many questions a cluster asks in a day, and how much of one model server they take."""

import statistics
from collections.abc import Sequence

from .judged import Tally

FAILURES_PER_1000_GPUS = 200
"""Attempts that fail in a day on 1,000 GPUs: an assumption, on the high side of what operators report."""
JOBS_PER_1000_GPUS = 1000
"""Jobs that are submitted in a day on 1,000 GPUs: an assumption."""
FORMATS_PER_DAY = 20
"""Formats of logs that a cluster has not met before, in a day: an assumption; it falls as formats become known."""
HEADINGS = ("asked about", "events a day", "questions an event", "questions a day", "server busy")
DAY_S = 86_400


def per_day(rows: Sequence[Tally], gpus: int) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headings and rows: of each kind of question, its number in a day and the share of a day that a server answers them.

    The share is that of one question at a time; a server that answers several at a time is less busy.
    """
    found: list[tuple[str, ...]] = []
    for row in rows:
        events = _events(row.kind, gpus)
        questions = events * row.share_asked
        busy = questions * statistics.mean(row.seconds) / DAY_S if row.seconds else None
        found.append(
            (
                row.kind,
                f"{events:.0f}",
                f"{row.share_asked:.2f}",
                f"{questions:.0f}",
                "-" if busy is None else f"{busy:.1%}",
            )
        )
    return HEADINGS, found


def _events(kind: str, gpus: int) -> float:
    if "verdict" in kind:
        return FAILURES_PER_1000_GPUS * gpus / 1000
    return JOBS_PER_1000_GPUS * gpus / 1000 if "job" in kind else FORMATS_PER_DAY
