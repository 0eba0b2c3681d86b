"""Nodes: what runs there, how its GPUs do, and what went wrong there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .database import Database

DAYS: Final = 7  # days of findings and verdicts
RECENT_MINUTES: Final = 10  # minutes after which a GPU's sample no longer counts
LIMIT: Final = 500
"""Nodes that a page shows, the worst first, and rows of each list of a node."""
COLUMNS: Final = (
    "node",
    "health",
    "reason",
    "cause",
    "jobs",
    "gpus",
    "utilisation",
    "temperature_c",
    "failures",
    "findings",
    "slowed_jobs",
    "last_cause",
    "last_failure",
    "last_act",
)
"""Columns of the list of nodes. `utilisation` is the mean in percent, `temperature_c` the hottest GPU's, of `RECENT_MINUTES`.

`slowed_jobs` is null unless the question `straggler_nodes` names the node.
"""

_NODES: Final = """
SELECT
    node, groupArrayArray(20)(u.jobs) AS jobs, max(u.gpus) AS gpus, max(u.utilisation) AS utilisation,
    max(u.temperature_c) AS temperature_c, max(u.failures) AS failures, max(u.findings) AS findings, max(u.last_cause) AS last_cause,
    max(u.last_failure) AS last_failure, max(u.last_act) AS last_act
FROM
(
    SELECT
        toString(node) AS node, groupUniqArray(20)(job) AS jobs, 0 AS gpus, CAST(NULL AS Nullable(Float64)) AS utilisation,
        CAST(NULL AS Nullable(Int64)) AS temperature_c, 0 AS failures, 0 AS findings, '' AS last_cause,
        CAST(NULL AS Nullable(DateTime64(6, 'UTC'))) AS last_failure, '' AS last_act
    FROM attempts ARRAY JOIN nodes AS node WHERE ended IS NULL GROUP BY node
    UNION ALL
    SELECT toString(node), [], uniqExact(gpu), avg(g.utilisation), max(g.temperature_c), 0, 0, '', NULL, ''
    FROM gpu_metrics AS g WHERE g.time > now64(6) - toIntervalMinute({minutes:UInt32}) GROUP BY node
    UNION ALL
    SELECT toString(node), [], 0, NULL, NULL, count(), 0, argMax(toString(signature), time), max(time), ''
    FROM verdicts WHERE error_type = 'infrastructure' AND node != '' AND time > now() - toIntervalDay({days:UInt32}) GROUP BY node
    UNION ALL
    SELECT toString(node), [], 0, NULL, NULL, 0, count(), '', NULL, ''
    FROM node_troubles WHERE time > now() - toIntervalDay({days:UInt32}) GROUP BY node
    UNION ALL
    SELECT d.node, [], 0, NULL, NULL, 0, 0, '', NULL, argMax(concat(toString(d.action), ': ', toString(o.last_outcome)), d.time)
    FROM decisions AS d INNER JOIN decision_outcomes AS o ON o.decision_id = d.id
    WHERE d.node != '' AND d.time > now() - toIntervalDay({days:UInt32}) GROUP BY d.node
    UNION ALL
    SELECT arrayJoin({stragglers:Array(String)}), [], 0, NULL, NULL, 0, 0, '', NULL, ''
) AS u
GROUP BY node
ORDER BY failures DESC, findings DESC, node
LIMIT {limit:UInt32}
"""
_WORST: Final = """
SELECT node, argMax(signature, (severity = 'fatal', time)) AS cause, max(severity = 'fatal') AS fatal
FROM node_troubles
WHERE time > now() - toIntervalDay({days:UInt32}) AND ({node:String} = '' OR node = {node:String})
GROUP BY node
"""
_GPUS: Final = """
SELECT
    g.gpu AS gpu, any(g.name) AS name, avg(g.utilisation) AS utilisation, avg(g.power_watts) AS power_watts,
    max(g.temperature_c) AS temperature_c, max(g.memory_used_bytes) / nullIf(max(g.memory_total_bytes), 0) AS memory,
    max(g.ecc_uncorrected) AS ecc_uncorrected, max(g.rows_remapped) AS rows_remapped,
    arrayDistinct(arrayFlatten(groupArray(g.jobs))) AS jobs,
    max(g.time) AS newest
FROM gpu_metrics AS g
WHERE g.node = {node:String} AND g.time > now64(6) - toIntervalMinute({minutes:UInt32})
GROUP BY gpu ORDER BY gpu LIMIT 64
"""
GPU_COLUMNS: Final = (
    "gpu", "name", "utilisation", "power_watts", "temperature_c", "memory", "ecc_uncorrected", "rows_remapped", "jobs", "newest",
)  # fmt: skip
"""Columns of GPUs in JSON and CSV of one node."""
_FINDINGS: Final = """
SELECT max(f.time) AS time, toString(f.severity) AS severity, f.signature AS signature, f.device AS device, max(f.times) AS times,
    argMax(f.text, f.time) AS text, arraySort(groupUniqArrayIf(8)(f.job, f.job != '')) AS jobs,
    f.place_topic AS topic, f.place_partition AS partition,
    f.place_offset AS offset, f.place_line AS line
FROM node_findings AS f
WHERE f.node = {node:String} AND f.time > now() - toIntervalDay({days:UInt32})
GROUP BY severity, signature, device, topic, partition, offset, line
ORDER BY time DESC LIMIT {limit:UInt32}
"""
_VERDICTS: Final = """
SELECT time, job, attempt, toString(error_type) AS error_type, toString(signature) AS signature, message,
    toString(root_topic) AS topic, root_partition AS partition, root_offset AS offset, root_line AS line
FROM verdicts WHERE node = {node:String} AND time > now() - toIntervalDay({days:UInt32})
ORDER BY time DESC LIMIT {limit:UInt32}
"""
_DECISIONS: Final = """
SELECT d.time AS time, toString(d.action) AS action, toString(d.mode) AS mode, d.reason AS reason, o.last_detail AS detail,
    if(o.last_outcome = '', 'none yet', toString(o.last_outcome)) AS outcome
FROM decisions AS d LEFT JOIN decision_outcomes AS o ON o.decision_id = d.id
WHERE d.node = {node:String} ORDER BY time DESC LIMIT {limit:UInt32}
"""


@dataclass(frozen=True)
class Node:
    """The records of one node: its GPUs now, and of the last `DAYS` days its findings, verdicts, decisions about it, and `health`."""

    name: str
    gpus: Sequence[Mapping[str, Any]]
    findings: Sequence[Mapping[str, Any]]
    verdicts: Sequence[Mapping[str, Any]]
    decisions: Sequence[Mapping[str, Any]]
    health: Mapping[str, str]


def read_nodes(database: Database) -> Sequence[Mapping[str, Any]]:
    """Return all nodes, those with most failures first. Raises as `Database.rows` does."""
    answer = database.question("straggler_nodes", {"limit": str(LIMIT)})
    stragglers = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    slowed = {row["node"]: row["slowed_jobs"] for row in stragglers}
    rows = database.rows(_NODES, days=DAYS, minutes=RECENT_MINUTES, limit=100_000, stragglers=list(slowed))
    worst = _worst_findings(database)
    found = [{**row, "slowed_jobs": slowed.get(row["node"])} for row in rows]
    return [{**row, **health(row, worst.get(row["node"]))} for row in found]


def health(row: Mapping[str, Any], worst: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the health of a node in one word, the reason, and the `cause` that names what to do; empty where there is none.

    Args:
        row: Infrastructure `failures`, their `last_cause`, and `slowed_jobs`.
        worst: The `cause` of its worst finding, and whether that is `fatal`; None for none.
    """
    if worst and worst["fatal"]:
        return {"health": "unhealthy", "reason": f"fatal finding: {worst['cause']}", "cause": worst["cause"]}
    if row["failures"]:
        many = f"{row['failures']} failure{'' if row['failures'] == 1 else 's'}"
        return {"health": "unhealthy", "reason": f"{many}, the last by {row['last_cause']}", "cause": row["last_cause"]}
    if worst:
        return {"health": "degraded", "reason": worst["cause"], "cause": worst["cause"]}
    if row["slowed_jobs"]:
        return {"health": "degraded", "reason": f"slows {row['slowed_jobs']} jobs", "cause": ""}
    return {"health": "healthy", "reason": "", "cause": ""}


def _worst_findings(database: Database, node: str = "") -> Mapping[str, Mapping[str, Any]]:
    return {row["node"]: row for row in database.rows(_WORST, days=DAYS, node=node)}


def matching_nodes(rows: Sequence[Mapping[str, Any]], search: str) -> Sequence[Mapping[str, Any]]:
    """Return the first `LIMIT` of the nodes in `rows` whose name holds `search`."""
    text = search.casefold()
    return [row for row in rows if text in row["node"].casefold()][:LIMIT]


def one_node(database: Database, node: str) -> Node | None:
    """Return what is on record of `node`; None where nothing is. Raises as `Database.rows` does."""
    gpus = database.rows(_GPUS, node=node, minutes=RECENT_MINUTES)
    findings, verdicts = (database.rows(asked, node=node, days=DAYS, limit=LIMIT) for asked in (_FINDINGS, _VERDICTS))
    decisions = database.rows(_DECISIONS, node=node, limit=LIMIT)
    if not (gpus or findings or verdicts or decisions):
        return None
    failures = [row for row in verdicts if row["error_type"] == "infrastructure"]
    known = {"failures": len(failures), "last_cause": failures[0]["signature"] if failures else "", "slowed_jobs": None}
    return Node(node, gpus, findings, verdicts, decisions, health(known, _worst_findings(database, node).get(node)))
