"""The rows that several tables hold of one job: few of each, so that they are read once.

To plan a question costs ClickHouse more than to read a job's rows, and a question over several tables costs more than one over each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from clickhouse_connect.driver.client import Client

from schedmate_records import JobReference
from sinks.clickhouse.incarnations import FoundJob, find_job
from sinks.clickhouse.queries import ask, run

Row = Mapping[str, Any]

_LIMIT: Final = 10_000
"""Rows of a table at most, the newest: a job may restart, save or be decided on for ever."""
_EVENTS: Final = (
    "SELECT attempt, toString(kind) AS kind, time, toString(scheduler) AS scheduler, "
    "arrayMap(node -> toString(node), nodes) AS nodes, gpus, toString(user) AS user, toString(name) AS name, "
    "toString(state) AS state, exit_code, signal, "
    "packed_with FROM scheduler_events WHERE job = {job:String} AND incarnation IN ({incarnation:String}, '') "
    "AND kind IN {kinds:Array(String)} ORDER BY time DESC LIMIT {limit:UInt32}"
)
_KINDS: Final = ("submitted", "started", "packed", "unpacked", "requeued", "ended")
_ALARMS: Final = (
    "SELECT attempt, toString(kind) AS kind, since, argMaxIf(a.detail, a.time, a.raised) AS detail, "
    "maxOrNullIf(a.time, NOT a.raised) AS over FROM alarms AS a WHERE job = {job:String} AND incarnation IN ({incarnation:String}, '') "
    "GROUP BY attempt, kind, since HAVING max(a.raised) ORDER BY since DESC LIMIT {limit:UInt32}"
)
_SAVES: Final = (
    "SELECT attempt, number, since, toString(state) AS state, toString(durable_by) AS durable_by, step, path FROM checkpoint_saves "
    "WHERE job = {job:String} AND incarnation IN ({incarnation:String}, '') ORDER BY attempt DESC, since DESC LIMIT {limit:UInt32}"
)
_DECISIONS: Final = (
    "SELECT time, id, toString(action) AS action, job, attempt, toString(mode) AS mode, toString(policy) AS policy, reason "
    "FROM decisions WHERE job = {job:String} AND incarnation IN ({incarnation:String}, '') ORDER BY time DESC, id LIMIT {limit:UInt32}"
)
_RESULTS: Final = (
    "SELECT time, decision_id, toString(action) AS action, attempt, toString(outcome) AS outcome, detail, toString(actuator) AS actuator "
    "FROM decision_results WHERE job = {job:String} AND incarnation IN ({incarnation:String}, '') ORDER BY time DESC LIMIT {limit:UInt32}"
)


@dataclass(frozen=True)
class JobRecords:
    """The records of `job`, with the names of the tables' columns.

    Attributes:
        job: The job.
        found: Which job of its id it is, and the others.
        events: What schedulers reported of it, the newest first; what pipes reported where no scheduler did, since every user can write
            events of pipes.
        verdicts: All revisions of its verdicts: newest attempt first, oldest revision first.
        alarms: Each alarm once, the newest first; `over` is null where nothing ended it.
        saves: Each save of a checkpoint once, the newest first.
        decisions: What the bridge decided on it, the newest first.
        results: What became of that, the newest first.
    """

    job: str
    found: FoundJob
    events: Sequence[Row]
    verdicts: Sequence[Row]
    alarms: Sequence[Row]
    saves: Sequence[Row]
    decisions: Sequence[Row]
    results: Sequence[Row]


def read_records(client: Client, job: str) -> JobRecords:
    """Return what is on record of `job`, as a person names it (`find_job`); all is empty where nothing is.

    Raises:
        SinkRejected: The database has no tables.
        SinkUnavailable: The server is away.
    """
    found = find_job(client, job)

    def rows(sql: str) -> list[Row]:
        values = {**found.values(), "limit": str(_LIMIT)} | ({"kinds": list(_KINDS)} if "{kinds:" in sql else {})
        answer = ask(client, sql, values)
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]

    history = run(client, "history", {"job": str(JobReference(found.job, found.incarnation)), "limit": str(_LIMIT)})
    return JobRecords(
        job=found.job,
        found=found,
        events=rows(_EVENTS),
        verdicts=[dict(zip(history.columns, row, strict=True)) for row in history.rows],
        alarms=rows(_ALARMS),
        saves=rows(_SAVES),
        decisions=rows(_DECISIONS),
        results=rows(_RESULTS),
    )


def in_force(records: JobRecords) -> Mapping[int, Row]:
    """Return the last verdict on each attempt; its `error_type` is `none` where it was retracted."""
    return {row["attempt"]: row for row in records.verdicts}


def outcomes(records: JobRecords) -> Mapping[str, Row]:
    """Return of each decision the result that counts: its last final one, else its last."""
    found: dict[str, Row] = {}
    for row in sorted(records.results, key=lambda row: (row["outcome"] != "started", row["time"])):
        found[row["decision_id"]] = row
    return found
