"""The row of one job as in the list of all jobs, as it is now, from the job's own rows: `jobs.py` does it for all jobs at once."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..explain.attempts import attempt_alarms, attempt_facts, attempt_state
from ..explain.records import JobRecords, in_force
from ..job_state import StateWord
from .database import Database
from .jobs import place_of, state_fields, with_pace
from .reports import Reports

_OF_ATTEMPT = ("user", "nodes", "gpus", "started", "ended")
"""The facts of an attempt that its page shows above the curves."""


def earlier_attempt(records: JobRecords, attempt: int) -> Mapping[str, Any]:
    """Return the facts of an attempt that is not the newest. Progress is known of the newest alone."""
    known = attempt_facts(records, attempt)
    unknown = dict.fromkeys(("step", "step_time_s", "throughput"))
    return {"attempt": attempt, **unknown, **{name: known[name] for name in _OF_ATTEMPT}}


def one_job(database: Database, records: JobRecords, reports: Sequence[Reports]) -> Mapping[str, Any] | None:
    """Return the row of a job; None where nothing is known of it. Raises as `Database.rows` does."""
    if not records.events and not reports:
        return None
    reported = bool(records.events)
    attempt = max(row["attempt"] for row in records.events) if reported else reports[-1].attempt
    known, verdicts = attempt_facts(records, attempt), in_force(records)
    verdict = verdicts.get(attempt)
    failed = verdict is not None and verdict["error_type"] != "none"
    causes = {row["signature"] for row in verdicts.values() if row["error_type"] != "none" and row["signature"]}
    progress = max((each.until for each in reports), default=None)
    state = attempt_state(records, attempt, time.time(), progress)
    ended = known["ended"].timestamp() if known["phase"] == "ended" else None
    alarms = {each.kind for each in attempt_alarms(records, attempt) if each.describes(ended)}
    row = {
        "job": records.job,
        "incarnation": records.found.incarnation,
        "attempt": attempt,
        **{
            name: known[name]
            for name in ("name", "user", "nodes", "gpus", "started", "ended", "state", "exit_code", "signal")
        },
        "error_type": verdict["error_type"] if verdict and failed else "",
        "cause": verdict["signature"] if verdict and failed else "",
        "message": verdict["message"] if verdict and failed else "",
        "place": place_of(*(verdict[f"root_{part}"] for part in ("topic", "partition", "offset", "line")))
        if verdict and failed
        else None,
        "causes": sorted(causes),
        "changed": records.events[0]["time"] if reported else progress,
        **state_fields(state),
        "alarms": [] if state.word is StateWord.QUEUED else sorted(alarms),
    }
    return with_pace(database, [row])[0]
