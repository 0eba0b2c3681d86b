"""The estimated start of a waiting job, where `schedmate starts --every` or `--keep` keeps it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from ..advisor.remaining import long
from .database import Database

_NEWEST: Final = """
SELECT time, expected_s, low_s, high_s, chance, toString(method) AS method
FROM start_estimates WHERE job = {job:String} AND attempt = {attempt:Int64} AND incarnation IN ({incarnation:String}, '')
ORDER BY time DESC LIMIT 1
"""


def read_start(database: Database, row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the last estimate of the start of `row`; None where it does not wait, or there is none. Raises as `Database.rows` does."""
    if row["condition"] != "queued":
        return None
    found = database.rows(_NEWEST, job=row["job"], incarnation=row["incarnation"], attempt=row["attempt"])
    return found[0] if found else None


def starts(estimate: Mapping[str, Any], now: datetime | None = None) -> str:
    """Return what a person reads of it: `in 2 h (1 h to 5 h)`; empty where the middle is not known."""
    expected, low, high = estimate["expected_s"], estimate["low_s"] or 0.0, estimate["high_s"]
    since = ((now or datetime.now(UTC)) - estimate["time"]).total_seconds()
    if expected is None:
        return ""
    if high is None:
        return f"in {long(expected - since)} ({long(low - since)} or more)"
    if since > high:
        return f"overdue for {long(since - high)}"
    return f"in {long(expected - since)} ({long(low - since)} to {long(high - since)})"
