"""The decisions that were published only, and the lives of their jobs, from ClickHouse."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clickhouse_connect.driver.client import Client

from sinks.clickhouse.queries import QueryResult, ask

_SHADOWS = (
    "SELECT d.id AS id, d.action AS action, d.job AS job, d.attempt AS attempt, d.cause AS cause, d.cause_id AS cause_id, "
    "d.time AS time, d.node AS node, d.beneficiary AS beneficiary, d.exclude_nodes AS exclude_nodes FROM decisions AS d "
    "INNER JOIN decision_outcomes AS o ON o.decision_id = d.id "
    "WHERE o.last_outcome = 'shadowed' AND d.time > toDateTime64({since:Float64}, 3) "
    # A job's attempt is acted on once: of several decisions about it, the last one that was not withdrawn would have been.
    "ORDER BY d.time DESC, d.id LIMIT 1 BY action, job, attempt, node"
)
_RESUBMITTED = (
    "SELECT original.job AS job, argMin(later.job, later.time) AS successor FROM "
    "(SELECT e.job AS job, any(e.user) AS user, any(e.directory) AS directory, any(e.command) AS command, max(e.time) AS time "
    "FROM job_events AS e WHERE e.job IN (SELECT job FROM decisions WHERE time > toDateTime64({since:Float64}, 3)) "
    "AND e.kind IN ('submitted', 'started') AND e.user != '' AND e.directory != '' AND e.command != '' GROUP BY e.job) AS original "
    "INNER JOIN (SELECT job, user, directory, command, time FROM job_events WHERE kind = 'submitted') AS later "
    "ON later.user = original.user AND later.directory = original.directory AND later.command = original.command "
    "WHERE later.job != original.job AND later.time > original.time GROUP BY original.job"
)
_CONCERNED = (
    "(SELECT job FROM decisions WHERE time > toDateTime64({since:Float64}, 3) "  # noqa: S608 - names of ours
    "UNION ALL SELECT beneficiary AS job FROM decisions WHERE time > toDateTime64({since:Float64}, 3) "
    f"UNION ALL SELECT successor AS job FROM ({_RESUBMITTED}))"
)
_ATTEMPTS = (
    "SELECT a.job AS job, a.attempt AS attempt, started, ended, nodes, gpus, state, exit_code, v.signature AS cause, "  # noqa: S608 - names of ours
    "v.error_type AS error_type FROM attempts AS a LEFT JOIN verdicts AS v ON v.job = a.job AND v.attempt = a.attempt "
    f"AND v.incarnation = a.incarnation WHERE a.job IN {_CONCERNED} ORDER BY job, attempt"
)
_AFTERWARDS = (
    # What began on a node within a day after its drain was decided.
    "SELECT d.id AS decision, a.job AS job, a.attempt AS attempt, a.started AS started, a.ended AS ended, a.nodes AS nodes, "
    "a.gpus AS gpus, a.state AS state, a.exit_code AS exit_code, v.signature AS cause, v.error_type AS error_type, v.node AS blamed "
    "FROM (SELECT DISTINCT id, node, time FROM decisions WHERE action = 'drain' AND time > toDateTime64({since:Float64}, 3)) AS d "
    "INNER JOIN (SELECT *, arrayJoin(nodes) AS node FROM attempts WHERE started > toDateTime64({since:Float64}, 3)) AS a "
    "ON a.node = d.node "
    "LEFT JOIN verdicts AS v ON v.job = a.job AND v.attempt = a.attempt AND v.incarnation = a.incarnation "
    "WHERE a.started > d.time AND a.started < d.time + toIntervalDay(1)"
)
_SAVED = (
    "SELECT d.id AS decision, max(c.since) AS since FROM decisions AS d "
    "INNER JOIN checkpoints AS c ON c.job = d.job AND c.attempt = d.attempt "
    "WHERE d.action IN ('evict', 'cancel') AND d.time > toDateTime64({since:Float64}, 3) AND c.state = 'durable' AND c.time <= d.time "
    "GROUP BY d.id"
)
_WENT_ON = (
    # Steps that were made after its end was decided.
    "SELECT d.id AS decision FROM decisions AS d INNER JOIN job_metrics AS m ON m.job = d.job AND m.attempt = d.attempt "
    "WHERE d.action = 'cancel' AND d.time > toDateTime64({since:Float64}, 3) AND m.job IN "
    "(SELECT job FROM decisions WHERE action = 'cancel' AND time > toDateTime64({since:Float64}, 3)) GROUP BY d.id "
    "HAVING ifNull(maxIf(m.step, m.time > d.time), -1) > ifNull(maxIf(m.step, m.time <= d.time), -1)"
)
_WITHDRAWN = (
    "SELECT job, attempt FROM job_events WHERE scheduler NOT IN ('pipe', 'producer') AND job IN "
    "(SELECT beneficiary FROM decisions WHERE action = 'evict' AND time > toDateTime64({since:Float64}, 3)) "
    "GROUP BY job, attempt HAVING countIf(kind = 'ended') > 0 AND countIf(kind = 'started') = 0"
)
_RATIOS = "SELECT id, ratio FROM slowdowns WHERE time > toDateTime64({since:Float64}, 3) - toIntervalDay(1)"


@dataclass(frozen=True)
class Attempt:
    """One attempt of a job. `cause`, and the node that is `blamed`: of the verdict in force; empty where there is none."""

    job: str
    attempt: int
    started: datetime
    ended: datetime | None
    nodes: list[str]
    gpus: float | None
    state: str
    exit_code: int | None
    cause: str
    error_type: str
    blamed: str = ""

    @property
    def ended_well(self) -> bool:
        """Did it do its work?"""
        return self.state == "COMPLETED" or (not self.state and self.ended is not None and self.exit_code == 0)

    @property
    def cancelled(self) -> bool:
        """Was it stopped by a person?"""
        return self.state.startswith("CANCELLED")


@dataclass(frozen=True)
class Shadow:
    """A decision that was published only."""

    id: str
    action: str
    job: str
    attempt: int
    cause: str
    cause_id: str
    time: datetime
    node: str
    beneficiary: str
    exclude_nodes: list[str]


@dataclass(frozen=True)
class Facts:
    """All that the report rests on.

    Attributes:
        shadows: The decisions, newest first.
        attempts: The attempts of their jobs, of jobs submitted again and of jobs that would have gained, by job and attempt.
        successors: The job that was submitted after another one from the same directory, with the same command, by the same user.
        ratios: How much slower jobs ran, by the id of the slowdown.
        corrected: Causes that people named, by job and attempt.
        afterwards: What began on the node of a drain within a day, by decision.
        saved: When the job of an eviction or a cancellation began its last durable checkpoint before, by decision.
        went_on: Cancellations whose jobs made steps afterwards.
        withdrawn: Attempts that ended without having started, of jobs for which others should have been evicted.
    """

    shadows: list[Shadow]
    attempts: Mapping[tuple[str, int], Attempt] = field(default_factory=dict)
    successors: Mapping[str, str] = field(default_factory=dict)
    ratios: Mapping[str, float] = field(default_factory=dict)
    corrected: Mapping[tuple[str, int], str] = field(default_factory=dict)
    afterwards: Mapping[str, list[Attempt]] = field(default_factory=dict)
    saved: Mapping[str, datetime] = field(default_factory=dict)
    went_on: frozenset[str] = frozenset()
    withdrawn: frozenset[tuple[str, int]] = frozenset()


def gather(client: Client, since: float) -> Facts:
    """Return what is on record of the decisions made after `since` (seconds since 1970).

    Raises:
        SinkRejected: The database has no tables.
        SinkUnavailable: The server is away.
    """

    def rows(sql: str) -> list[dict[str, Any]]:
        answer: QueryResult = ask(client, sql, {"since": str(since)} if "{since" in sql else {})
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]

    shadows = [Shadow(**row) for row in rows(_SHADOWS)]
    if not shadows:
        return Facts([])
    attempts = [Attempt(**row) for row in rows(_ATTEMPTS)]
    return Facts(
        shadows,
        {(one.job, one.attempt): one for one in attempts},
        {row["job"]: row["successor"] for row in rows(_RESUBMITTED)},
        {row["id"]: row["ratio"] for row in rows(_RATIOS)},
        {(row["job"], row["attempt"]): row["cause"] for row in rows("SELECT job, attempt, cause FROM corrections")},
        _by_decision(rows(_AFTERWARDS)),
        {row["decision"]: row["since"] for row in rows(_SAVED)},
        frozenset(row["decision"] for row in rows(_WENT_ON)),
        frozenset((row["job"], row["attempt"]) for row in rows(_WITHDRAWN)),
    )


def _by_decision(rows: list[dict[str, Any]]) -> dict[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = {}
    for row in rows:
        found.setdefault(row.pop("decision"), []).append(Attempt(**row))
    return found
