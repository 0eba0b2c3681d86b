"""The estimate of an attempt that has not ended: how long it takes, and what remains."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from schedmate_records import DurationMode

from ..advisor.remaining import long, modes_in_words, remains
from ..times import moment_at
from .database import Database

# Of one job this reads a few rows of the primary key's order; the view `newest_estimates` would sort all jobs'.
_NEWEST: Final = """
SELECT e.time AS time, e.duration_s AS duration_s, e.duration_low_s AS duration_low_s, e.duration_high_s AS duration_high_s,
    e.remaining_s AS remaining_s, e.remaining_low_s AS remaining_low_s, e.remaining_high_s AS remaining_high_s, e.done AS done,
    e.gpu_utilisation AS gpu_utilisation, e.modes AS modes, toString(e.method) AS method
FROM estimates AS e
WHERE e.job = {job:String} AND e.attempt = {attempt:Int64} AND e.incarnation IN ({incarnation:String}, '')
ORDER BY e.revision DESC, e.id LIMIT 1
"""


@dataclass(frozen=True)
class Expected:
    """An estimate as the page shows it.

    Attributes:
        name: What is expected: `Time left`, or before a job runs `Expected to take`.
        duration: The time, with its interval.
        until: When it would end; None where that is not known, or is over.
    """

    name: str
    duration: str
    until: datetime | None = None


def read_estimate(database: Database, row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the estimate in force on the attempt of `row`; None where there is none. Raises as `Database.rows` does."""
    if not row["condition"].is_live:
        return None
    found = database.rows(_NEWEST, job=row["job"], incarnation=row["incarnation"], attempt=row["attempt"])
    return found[0] if found and found[0]["method"] != "unknown" else None


def expected(estimate: Mapping[str, Any], now: datetime | None = None) -> Expected | None:
    """Return an estimate in words; None where it has no time."""
    remaining, duration = estimate["remaining_s"], estimate["duration_s"]
    if remaining is None:
        if duration is None:
            return None
        words = remains(duration, estimate["duration_low_s"] or 0.0, estimate["duration_high_s"])
        modes = modes_in_words(msgspec.json.decode(estimate.get("modes") or "[]", type=list[DurationMode]))
        return Expected("Expected to take", f"{words}; {modes}" if modes else words)
    made = estimate["time"]
    since = ((now or datetime.now(UTC)) - made).total_seconds()
    low, high = estimate["remaining_low_s"] or 0.0, estimate["remaining_high_s"]
    if high is not None and since > high:
        return Expected("Time left", f"overdue for {long(since - high)}")
    duration = remains(remaining - since, low - since, None if high is None else high - since)
    until = None if high is None or since > remaining else moment_at(made.timestamp() + remaining)
    return Expected("Time left", duration, until)
