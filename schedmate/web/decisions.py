"""Decisions of the bridge, their results, and those that wait for approval."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from .database import Database

COLUMNS: Final = (
    "time",
    "id",
    "action",
    "job",
    "node",
    "attempt",
    "mode",
    "policy",
    "reason",
    "expires",
    "outcome",
    "detail",
    "decided",
)

_DECISIONS: Final = """
SELECT
    d.time AS time, d.id AS id, toString(d.action) AS action, d.job AS job, d.node AS node, d.attempt AS attempt,
    toString(d.mode) AS mode, toString(d.policy) AS policy, d.reason AS reason, d.expires AS expires,
    if(o.last_outcome = '', 'none yet', toString(o.last_outcome)) AS outcome, o.last_detail AS detail,
    toString(a.command) AS decided,
    o.last_outcome = 'awaiting_approval' AND a.command = '' AND d.expires > now64(6) AS waits
FROM decisions AS d
LEFT JOIN decision_outcomes AS o ON o.decision_id = d.id
LEFT JOIN
(
    SELECT about, argMax(c.command, (c.command = 'reject', c.time)) AS command
    FROM approvals AS c WHERE c.command IN ('approve', 'reject') GROUP BY about
) AS a ON a.about = d.id
WHERE ({job:String} = '' OR d.job = {job:String}) AND ({id:String} = '' OR d.id = {id:String})
ORDER BY waits DESC, d.time DESC, d.id
LIMIT {limit:UInt32}
"""
_STOPS: Final = """
SELECT time, id, user, host, reason
FROM approvals
WHERE command = 'stop' AND id NOT IN (SELECT about FROM approvals WHERE command = 'resume')
ORDER BY time
LIMIT 20
"""


def list_decisions(database: Database, job: str = "", limit: int = 200) -> list[Mapping[str, Any]]:
    """Return decisions on `job` (empty: all), those that wait for a person first, then the newest. Raises as `Database.rows` does."""
    return [
        {**row, "waits": bool(row["waits"]), "commands": _commands(row["id"]) if row["waits"] else ()}
        for row in database.rows(_DECISIONS, job=job, id="", limit=limit)
    ]


def waiting_decision(database: Database, decision: str) -> Mapping[str, Any] | None:
    """Return the decision of that id if it waits for a person. Raises as `Database.rows` does."""
    rows = database.rows(_DECISIONS, job="", id=decision, limit=1) if decision else []
    return next((row for row in rows if row["waits"]), None)


def standing_stops(database: Database) -> Sequence[Mapping[str, Any]]:
    """Return the stops of all actions that are not lifted, oldest first. Raises as `Database.rows` does."""
    return database.rows(_STOPS)


def _commands(decision: str) -> tuple[str, ...]:
    """Return what a person types who may write to the topic `approvals`; the id is quoted for a shell."""
    return tuple(f"schedmate decisions {verb} {shlex.quote(decision)} --reason '…'" for verb in ("approve", "reject"))
