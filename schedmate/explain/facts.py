"""The records of an attempt of a job, from ClickHouse."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from clickhouse_connect.driver.client import Client

from sinks.clickhouse.queries import QueryResult, ask

from ..job_state import JobState, StateWord
from .attempts import attempt_state, ran
from .records import JobRecords, Row, in_force, outcomes, read_records

_PROGRESS = (
    "SELECT m.step AS step, m.step_time_s AS step_time_s, m.loss AS loss, m.loss_not_finite AS loss_not_finite, "
    "m.loss_step AS loss_step, m.time AS time FROM job_metrics AS m "
    "WHERE m.job = {job:String} AND m.attempt = {attempt:Int64} AND m.incarnation IN ({incarnation:String}, '') "
    "AND m.step IS NOT NULL ORDER BY m.time DESC, m.rank LIMIT 1"
)
_PEOPLE = (
    "SELECT time, user, cause, error_type, component, line, comment FROM feedback "
    "WHERE job = {job:String} AND attempt = {attempt:Int64} AND incarnation IN ({incarnation:String}, '') ORDER BY time DESC LIMIT 5"
)
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
    "FROM node_findings AS f WHERE job = {job:String} AND attempt = {attempt:Int64} AND incarnation IN ({incarnation:String}, '') "
    "GROUP BY time, node, severity, signature, component, gpu, device, text, topic, partition, offset, line "
    "ORDER BY indexOf(['fatal', 'error', 'info', 'warning'], toString(severity)), time LIMIT 12"
)
_SLOWDOWNS = (
    # What it recovered to is a second row of the same measurement.
    "SELECT packed_job, toString(node) AS node, time, before_s, after_s, ratio, max(s.recovered) AS recovered FROM slowdowns AS s "
    "WHERE job = {job:String} AND attempt = {attempt:Int64} AND incarnation IN ({incarnation:String}, '') "
    "GROUP BY packed_job, node, time, before_s, after_s, ratio ORDER BY time LIMIT 12"
)
_LOOKS = (
    "SELECT model, error_type, faulty_component, root_line, summary FROM model_answers "
    "WHERE job = {job:String} AND attempt = {attempt:Int64} AND incarnation IN ({incarnation:String}, '') "
    "AND error_type NOT IN ('', 'unknown') "
    "ORDER BY model, revision DESC, time DESC LIMIT 1 BY model"
)


@dataclass(frozen=True)
class JobFacts:
    """The records of an attempt. Rows have the names of the tables' columns.

    Attributes:
        job: The job.
        attempt: The attempt that the page is about.
        newest: The job's newest attempt, where the page is about its last failure; else 0.
        state: The state of the attempt.
        verdicts: All revisions of its verdict, oldest first; empty for none.
        ran: When and where it ran and how it ended; None where no scheduler reported it.
        progress: The last progress; None where none was reported.
        checkpoint: The last durable checkpoint that it could be started again from, its own or an earlier attempt's; None without one.
        failed_saves: Saves of the attempt that failed.
        decisions: What the bridge decided on all attempts of the job, newest first, and what became of it.
        findings: Findings in its nodes' logs and GPU metrics while it was there, the worst first.
        slowdowns: Packings that slowed it, and its speed after them (`recovered`) where that was measured.
        looks: The last answer of each language model about the attempt.
        people: Causes that people named, newest first.
        neighbours: Failures of other jobs on the node that the verdict names, within a week.
    """

    job: str
    attempt: int
    newest: int = 0
    state: JobState = field(default_factory=lambda: JobState(StateWord.OUTCOME_UNKNOWN))
    verdicts: Sequence[Row] = field(default_factory=list)
    ran: Row | None = None
    progress: Row | None = None
    checkpoint: Row | None = None
    failed_saves: int = 0
    decisions: Sequence[Row] = field(default_factory=list)
    findings: Sequence[Row] = field(default_factory=list)
    slowdowns: Sequence[Row] = field(default_factory=list)
    looks: Sequence[Row] = field(default_factory=list)
    people: Sequence[Row] = field(default_factory=list)
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
    return facts_of(client, read_records(client, job), attempt)


def facts_of(client: Client, records: JobRecords, attempt: int | None = None) -> JobFacts | None:
    """Return what `gather` returns, of a job whose `records` were read. Raises as `gather` does."""
    known = [row["attempt"] for row in (*records.verdicts, *records.events)]
    if not known:
        return None
    job, newest = records.job, max(known)
    chosen = _last_failed(records, newest) if attempt is None else attempt
    values = {"job": job, "incarnation": records.found.incarnation, "attempt": str(chosen)}
    verdicts = [row for row in records.verdicts if row["attempt"] == chosen]
    progress = next(iter(_rows(ask(client, _PROGRESS, values))), None)
    node = verdicts[-1]["node"] if verdicts else ""
    durable = (row for row in records.saves if row["attempt"] <= chosen and row["state"] == "durable")
    return JobFacts(
        job=job,
        attempt=chosen,
        newest=newest if attempt is None and newest > chosen else 0,
        verdicts=[{**row, "evidence": json.loads(row["evidence"] or "[]")} for row in verdicts],
        ran=ran(records, chosen),
        progress=progress,
        state=attempt_state(records, chosen, time.time(), progress["time"] if progress else None),
        checkpoint=next(durable, None),
        failed_saves=sum(row["attempt"] == chosen and row["state"] == "failed" for row in records.saves),
        decisions=list(_decided(records)),
        findings=_rows(ask(client, _FINDINGS, values)),
        slowdowns=_rows(ask(client, _SLOWDOWNS, values)),
        looks=_rows(ask(client, _LOOKS, values)) if verdicts else [],
        people=_rows(ask(client, _PEOPLE, values)),
        neighbours=_rows(ask(client, _NEIGHBOURS, {"node": node, "job": job})) if node else [],
    )


def _decided(records: JobRecords) -> Iterator[Row]:
    last = outcomes(records)
    for row in records.decisions:
        result = last.get(row["id"], {})
        yield {
            **{name: value for name, value in row.items() if name != "id"},
            "outcome": result.get("outcome", "waiting"),
            "detail": result.get("detail", ""),
            "actuator": result.get("actuator", ""),
            "seconds": round((result["time"] - row["time"]).total_seconds(), 3) if result else None,
        }


def _last_failed(records: JobRecords, newest: int) -> int:
    """Return the newest attempt with a verdict in force: a restart does not hide why it was needed. `newest` where there is none."""
    failed = (attempt for attempt, row in in_force(records).items() if row["error_type"] != "none")
    return max(failed, default=newest)


def _rows(answer: QueryResult) -> list[dict[str, Any]]:
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
