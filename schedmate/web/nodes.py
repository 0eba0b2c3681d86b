"""Nodes: what runs there, how its GPUs do, and what went wrong there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .database import Database

DAYS: Final = 7
RECENT_MINUTES: Final = 10
LIMIT: Final = 500
"""Nodes that a page shows, the worst first, and rows of each list of a node."""
MOST: Final = 100_000
"""Nodes that are searched, the worst first."""
COLUMNS: Final = (
    "node",
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
"""What a row of the list holds. `utilisation` is the mean in percent, `temperature_c` the hottest GPU's, of `RECENT_MINUTES`.

`slowed_jobs` is null unless the question `straggler_nodes` names the node.
"""

_NODES: Final = """
WITH here AS
(
    SELECT toString(node) AS node, groupUniqArray(20)(job) AS jobs
    FROM attempts ARRAY JOIN nodes AS node WHERE ended IS NULL GROUP BY node
),
sampled AS
(
    SELECT node, uniqExact(gpu) AS gpus, avg(g.utilisation) AS utilisation, max(g.temperature_c) AS temperature_c
    FROM gpu_metrics AS g WHERE g.time > now64(6) - toIntervalMinute({minutes:UInt32}) GROUP BY node
),
failed AS
(
    SELECT toString(node) AS node, count() AS failures, argMax(toString(signature), time) AS last_cause, max(time) AS last_failure
    FROM verdicts WHERE error_type = 'infrastructure' AND node != '' AND time > now() - toIntervalDay({days:UInt32}) GROUP BY node
),
said AS
(
    SELECT toString(node) AS node, count() AS findings
    FROM node_troubles WHERE time > now() - toIntervalDay({days:UInt32}) GROUP BY node
),
acted AS
(
    SELECT d.node AS node, argMax(concat(toString(d.action), ': ', toString(o.last_outcome)), d.time) AS last_act
    FROM decisions AS d INNER JOIN decision_outcomes AS o ON o.decision_id = d.id
    WHERE d.node != '' AND d.time > now() - toIntervalDay({days:UInt32}) GROUP BY node
)
SELECT
    n.node AS node, here.jobs AS jobs, sampled.gpus AS gpus, sampled.utilisation AS utilisation,
    sampled.temperature_c AS temperature_c, failed.failures AS failures, said.findings AS findings,
    failed.last_cause AS last_cause, nullIf(failed.last_failure, toDateTime64(0, 6, 'UTC')) AS last_failure, acted.last_act AS last_act
FROM
(
    SELECT DISTINCT node FROM
    (
        SELECT node FROM here UNION ALL SELECT node FROM sampled UNION ALL SELECT node FROM failed
        UNION ALL SELECT node FROM said UNION ALL SELECT node FROM acted UNION ALL SELECT arrayJoin({stragglers:Array(String)}) AS node
    )
) AS n
LEFT JOIN here ON here.node = n.node
LEFT JOIN sampled ON sampled.node = n.node
LEFT JOIN failed ON failed.node = n.node
LEFT JOIN said ON said.node = n.node
LEFT JOIN acted ON acted.node = n.node
ORDER BY failures DESC, findings DESC, node
LIMIT {limit:UInt32}
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
"""What the twin of one node holds of each GPU."""
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
SELECT time, job, attempt, toString(error_type) AS error_type, toString(signature) AS signature, message
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
    """What is on record of one node: its GPUs now, and of the last `DAYS` days its findings, verdicts, and decisions about it."""

    name: str
    gpus: Sequence[Mapping[str, Any]]
    findings: Sequence[Mapping[str, Any]]
    verdicts: Sequence[Mapping[str, Any]]
    decisions: Sequence[Mapping[str, Any]]


def read_nodes(database: Database) -> Sequence[Mapping[str, Any]]:
    """Return all nodes, those with most failures first. Raises as `Database.rows` does."""
    answer = database.question("straggler_nodes", {"limit": str(LIMIT)})
    stragglers = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    slowed = {row["node"]: row["slowed_jobs"] for row in stragglers}
    rows = database.rows(_NODES, days=DAYS, minutes=RECENT_MINUTES, limit=MOST, stragglers=list(slowed))
    return [{**row, "slowed_jobs": slowed.get(row["node"])} for row in rows]


def named(rows: Sequence[Mapping[str, Any]], search: str) -> Sequence[Mapping[str, Any]]:
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
    return Node(node, gpus, findings, verdicts, decisions)
