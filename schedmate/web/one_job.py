"""The row of one job as in the list of all jobs, as it is now, from the job's own rows: `jobs.py` does it for all jobs at once."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..explain import JobRecords, attempt_facts, in_force
from .database import Database
from .jobs import with_pace
from .reports import Reports


def one_job(database: Database, records: JobRecords, reports: Sequence[Reports]) -> Mapping[str, Any] | None:
    """Return the row of a job; None where nothing is known of it. Raises as `Database.rows` does."""
    if not records.events and not reports:
        return None
    reported = bool(records.events)
    attempt = max(row["attempt"] for row in records.events) if reported else reports[-1].attempt
    known, verdicts = attempt_facts(records, attempt), in_force(records)
    verdict = verdicts.get(attempt)
    failed = verdict is not None and verdict["error_type"] != "none"
    condition = _condition(known, failed) if reported else "unknown"
    alarms = {row["kind"] for row in records.alarms if row["attempt"] == attempt and row["standing"]}
    causes = {row["signature"] for row in verdicts.values() if row["error_type"] != "none" and row["signature"]}
    row = {
        "job": records.job,
        "incarnation": records.found.incarnation,
        "attempt": attempt,
        **{name: known[name] for name in ("user", "nodes", "gpus", "state", "exit_code", "signal")},
        "started": known["started"],
        "ended": _end(known),
        "error_type": verdict["error_type"] if verdict and failed else "",
        "cause": verdict["signature"] if verdict and failed else "",
        "message": verdict["message"] if verdict and failed else "",
        "causes": sorted(causes),
        "changed": records.events[0]["time"] if reported else max(each.until for each in reports),
        "condition": condition,
        "alarms": sorted(alarms) if condition in ("running", "unknown") else [],
    }
    return with_pace(database, [row])[0]


def _end(known: Mapping[str, Any]) -> Any:
    end, started = known["last_end"], known["started"]
    return end if end is not None and (started is None or end >= started) else None


def _condition(known: Mapping[str, Any], failed: bool) -> str:
    if known["last_kind"] == "requeued" or known["started"] is None:
        return "queued"
    if _end(known) is None:
        return "running"
    return "failed" if failed or known["exit_code"] or known["signal"] else "ended"
