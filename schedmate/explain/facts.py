"""What is on record of an attempt of a job, from ClickHouse."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clickhouse_connect.driver.client import Client

from sinks.clickhouse import QueryResult, ask, run

Row = Mapping[str, Any]

_ATTEMPT = "SELECT * FROM attempts WHERE job = {job:String} AND attempt = {attempt:Int64}"
_NEWEST = (
    "SELECT max(attempt) AS attempt, count() AS known FROM (SELECT attempt FROM failures WHERE job = {job:String} "
    "UNION ALL SELECT attempt FROM job_events WHERE job = {job:String})"
)
_PROGRESS = (
    "SELECT max(m.step) AS step, argMax(m.step_time_s, m.time) AS step_time_s, argMax(m.loss, m.time) AS loss, max(m.time) AS time "
    "FROM job_metrics AS m WHERE m.job = {job:String} AND m.attempt = {attempt:Int64}"
)
_CHECKPOINT = (
    "SELECT attempt, number, since, durable_by, step, path FROM checkpoint_saves WHERE job = {job:String} "
    "AND attempt <= {attempt:Int64} AND state = 'durable' ORDER BY attempt DESC, since DESC LIMIT 1"
)
_FAILED_SAVES = "SELECT count() AS saves FROM checkpoint_saves WHERE job = {job:String} AND attempt = {attempt:Int64} AND state = 'failed'"
OWN_MEMORY = ("oom_killer", "cgroup_oom", "systemd_oom", "host_memory", "worker_killed", "out_of_memory")
"""Causes that are a job's hunger for memory, on whatever node: no sign that a node is ill."""
_NEIGHBOURS = (
    "SELECT job, attempt, time, signature, message FROM node_failures "  # noqa: S608 - names of ours
    f"WHERE node = {{node:String}} AND job != {{job:String}} AND signature NOT IN {OWN_MEMORY} "
    "AND time > now() - INTERVAL 7 DAY ORDER BY time DESC LIMIT 10"
)

_FINDINGS = (
    "SELECT time, node, severity, signature, component, gpu, device, max(f.times) AS times, text, "
    "place_topic AS topic, place_partition AS partition, place_offset AS offset, place_line AS line "
    "FROM node_findings AS f WHERE job = {job:String} AND attempt = {attempt:Int64} "
    "GROUP BY time, node, severity, signature, component, gpu, device, text, topic, partition, offset, line "
    "ORDER BY indexOf(['fatal', 'error', 'info', 'warning'], toString(severity)), time LIMIT 12"
)
_LOOKS = (
    "SELECT model, error_type, faulty_component, root_line FROM model_answers "
    "WHERE job = {job:String} AND attempt = {attempt:Int64} AND error_type NOT IN ('', 'unknown') "
    "ORDER BY model, revision DESC, time DESC LIMIT 1 BY model"
)


@dataclass(frozen=True)
class JobFacts:
    """What is known. Rows have the names of the tables' columns.

    Attributes:
        job: The job.
        attempt: The attempt that the page is about.
        newest: The job's newest attempt, where the page is about its last failure; else 0.
        verdicts: All revisions of its verdict, first said first; empty where nothing was said.
        ran: When and where it ran and how it ended; None where no scheduler told.
        progress: The last progress; None where none was reported.
        checkpoint: The last durable checkpoint that it could be started again from, its own or an earlier attempt's; None without one.
        failed_saves: Saves of the attempt that failed.
        decisions: What the bridge decided on the job, newest first, and what became of it.
        findings: What its nodes' logs and GPUs said while it was there, the worst first.
        looks: What language models said last of the attempt's verdicts.
        neighbours: Failures of other jobs on the node that the verdict names, within a week.
    """

    job: str
    attempt: int
    newest: int = 0
    verdicts: Sequence[Row] = field(default_factory=list)
    ran: Row | None = None
    progress: Row | None = None
    checkpoint: Row | None = None
    failed_saves: int = 0
    decisions: Sequence[Row] = field(default_factory=list)
    findings: Sequence[Row] = field(default_factory=list)
    looks: Sequence[Row] = field(default_factory=list)
    neighbours: Sequence[Row] = field(default_factory=list)

    @property
    def verdict(self) -> Row | None:
        """The verdict in force; None where there is none, or where it was retracted."""
        return self.verdicts[-1] if self.verdicts and self.verdicts[-1]["error_type"] != "none" else None


def gather(client: Client, job: str, attempt: int | None = None) -> JobFacts | None:
    """Return what is on record of `attempt` of `job`; None where nothing is known of the job.

    Without `attempt` it is the newest that failed, else the newest.

    Raises:
        SinkRejected: The database has no tables.
        SinkUnavailable: The server is away.
    """
    (known,) = _rows(ask(client, _NEWEST, {"job": job}))
    if not known["known"]:
        return None
    history = _rows(run(client, "history", {"job": job}))
    chosen = _last_failed(history, known["attempt"]) if attempt is None else attempt
    values = {"job": job, "attempt": str(chosen)}
    verdicts = [row for row in history if row["attempt"] == chosen]
    progress = next(iter(_rows(ask(client, _PROGRESS, values))), None)
    node = verdicts[-1]["node"] if verdicts else ""
    return JobFacts(
        job=job,
        attempt=chosen,
        newest=known["attempt"] if attempt is None and known["attempt"] > chosen else 0,
        verdicts=[{**row, "evidence": json.loads(row["evidence"] or "[]")} for row in verdicts],
        ran=next(iter(_rows(ask(client, _ATTEMPT, values))), None),
        progress=progress if progress and progress["step"] is not None else None,
        checkpoint=next(iter(_rows(ask(client, _CHECKPOINT, values))), None),
        failed_saves=_rows(ask(client, _FAILED_SAVES, values))[0]["saves"],
        decisions=[row for row in _rows(run(client, "bridge", {"job": job})) if row["attempt"] == chosen],
        findings=_rows(ask(client, _FINDINGS, values)),
        looks=_rows(ask(client, _LOOKS, values)),
        neighbours=_rows(ask(client, _NEIGHBOURS, {"node": node, "job": job})) if node else [],
    )


def _last_failed(history: Sequence[Row], newest: int) -> int:
    """Return the newest attempt with a verdict in force: a restart does not hide why it was needed. `newest` where there is none."""
    in_force = {row["attempt"]: row["error_type"] for row in history}
    return max((attempt for attempt, kind in in_force.items() if kind != "none"), default=newest)


def _rows(answer: QueryResult) -> list[dict[str, Any]]:
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
