"""The decisions that were published only, and the lives of their jobs, from ClickHouse."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from clickhouse_connect.driver.client import Client

from sinks.clickhouse import QueryResult, ask

_SHADOWS = (
    "SELECT d.id AS id, d.action AS action, d.job AS job, d.attempt AS attempt, d.cause AS cause, d.cause_id AS cause_id, "
    "d.time AS time, d.beneficiary AS beneficiary, d.exclude_nodes AS exclude_nodes FROM decisions AS d "
    "INNER JOIN decision_outcomes AS o ON o.decision_id = d.id "
    "WHERE o.last_outcome = 'shadowed' AND d.time > now() - toIntervalDay({days:UInt32}) "
    # A job's attempt is acted on once: of several decisions about it, the last one that was not withdrawn would have been.
    "ORDER BY d.time DESC, d.id LIMIT 1 BY action, job, attempt"
)
_RESUBMITTED = (
    "SELECT original.job AS job, argMin(later.job, later.time) AS successor FROM "
    "(SELECT e.job AS job, any(e.user) AS user, any(e.directory) AS directory, any(e.command) AS command, max(e.time) AS time "
    "FROM job_events AS e WHERE e.job IN (SELECT job FROM decisions WHERE time > now() - toIntervalDay({days:UInt32})) "
    "AND e.kind IN ('submitted', 'started') AND e.user != '' AND e.directory != '' AND e.command != '' GROUP BY e.job) AS original "
    "INNER JOIN (SELECT job, user, directory, command, time FROM job_events WHERE kind = 'submitted') AS later "
    "ON later.user = original.user AND later.directory = original.directory AND later.command = original.command "
    "WHERE later.job != original.job AND later.time > original.time GROUP BY original.job"
)
_CONCERNED = (
    "(SELECT job FROM decisions WHERE time > now() - toIntervalDay({days:UInt32}) "  # noqa: S608 - names of ours
    "UNION ALL SELECT beneficiary AS job FROM decisions WHERE time > now() - toIntervalDay({days:UInt32}) "
    f"UNION ALL SELECT successor AS job FROM ({_RESUBMITTED}))"
)
_ATTEMPTS = (
    "SELECT a.job AS job, a.attempt AS attempt, started, ended, nodes, gpus, state, exit_code, v.signature AS cause, "  # noqa: S608 - names of ours
    "v.error_type AS error_type FROM attempts AS a LEFT JOIN verdicts AS v ON v.job = a.job AND v.attempt = a.attempt "
    f"WHERE a.job IN {_CONCERNED} ORDER BY job, attempt"
)
_RATIOS = "SELECT id, ratio FROM slowdowns WHERE time > now() - toIntervalDay({days:UInt32} + 1)"
_CORRECTED = "SELECT job, attempt, cause FROM corrections"


@dataclass(frozen=True)
class Attempt:
    """One attempt of a job. `cause`: of the verdict in force; empty where there is none."""

    job: str
    attempt: int
    started: datetime
    ended: datetime | None
    nodes: list[str]
    gpus: float
    state: str
    exit_code: int | None
    cause: str
    error_type: str

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
        corrected: What people said was the cause, by job and attempt.
    """

    shadows: list[Shadow]
    attempts: Mapping[tuple[str, int], Attempt] = field(default_factory=dict)
    successors: Mapping[str, str] = field(default_factory=dict)
    ratios: Mapping[str, float] = field(default_factory=dict)
    corrected: Mapping[tuple[str, int], str] = field(default_factory=dict)


def gather(client: Client, days: int) -> Facts:
    """Return what is on record of the decisions of the last `days` days.

    Raises:
        SinkRejected: The database has no tables.
        SinkUnavailable: The server is away.
    """

    def rows(sql: str) -> list[dict[str, Any]]:
        answer: QueryResult = ask(client, sql, {"days": str(days)} if "{days" in sql else {})
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
        {(row["job"], row["attempt"]): row["cause"] for row in rows(_CORRECTED)},
    )
