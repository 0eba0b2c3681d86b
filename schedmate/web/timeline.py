"""A job over time: its measurements in even spans, and the events to mark."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ..explain.records import JobRecords, in_force
from .database import Database
from .reports import Reports

# One rank represents the job: the lowest that reports. Its rows are adjacent in the table, so that neither the number of ranks
# nor the size of the table counts.
_CURVES: Final = """
SELECT
    intDiv(toUnixTimestamp64Micro(m.time) - {since:Int64}, {width:Int64}) AS span,
    avg(toUnixTimestamp64Micro(m.time)) / 1e6 AS at,
    avg(m.step_time_s) AS step_time_s,
    avg(m.throughput) AS throughput,
    avgIf(m.loss, isFinite(m.loss)) AS loss,
    anyIf(toString(m.throughput_unit), m.throughput_unit != '') AS unit,
    m.attempt AS attempt
FROM job_metrics AS m
WHERE m.job = {job:String} AND m.incarnation IN ({incarnation:String}, '') AND m.rank = {rank:Int64}
GROUP BY attempt, span
ORDER BY attempt, span
"""
_GPU: Final = """
SELECT avg(toUnixTimestamp64Micro(g.time)) / 1e6 AS at, avg(g.utilisation) AS gpu, uniqExact(g.node, g.gpu) AS gpus
FROM gpu_metrics AS g
WHERE g.node IN {nodes:Array(String)} AND has(g.jobs, {job:String})
  AND g.time >= fromUnixTimestamp64Micro({since:Int64}) AND g.time <= fromUnixTimestamp64Micro({until:Int64})
GROUP BY intDiv(toUnixTimestamp64Micro(g.time) - {since:Int64}, {width:Int64})
ORDER BY at
"""


@dataclass(frozen=True)
class Curve:
    """One measurement over time. `points` holds (seconds since 1970, value, attempt); spans without a value are left out."""

    name: str
    unit: str
    points: Sequence[tuple[float, float, int]]


@dataclass(frozen=True)
class Mark:
    """Something that happened at `at` (seconds since 1970)."""

    at: float
    kind: str
    attempt: int
    about: str


@dataclass(frozen=True)
class Timeline:
    """The measurements and events of a job over time; `ranks` counts those that reported, of which `rank` is drawn (None: none did)."""

    curves: Sequence[Curve]
    marks: Sequence[Mark]
    rank: int | None
    ranks: int


def timeline(database: Database, records: JobRecords, reports: Sequence[Reports], nodes: Sequence[str]) -> Timeline:
    """Return the timeline of the job of `records`, which ran on `nodes`. Raises as `Database.rows` does."""
    # Newest 400 events: an answer stays small for a job that restarts for ever.
    job, marks = records.job, sorted(_marks(records), key=lambda mark: mark.at)[-400:]
    if not reports:
        return Timeline((), marks, None, 0)
    rank = min(each.first for each in reports)
    since = micros(min(each.since for each in reports))
    until = micros(max(each.until for each in reports)) + 60_000_000
    # A curve has no more points than its plot has columns to show them in.
    span = {"since": since, "width": max(1, (until - since) // 240 + 1)}
    rows = database.rows(_CURVES, job=job, incarnation=records.found.incarnation, rank=rank, **span)
    unit = next((row["unit"] for row in rows if row["unit"]), "")
    gpu = database.rows(_GPU, job=job, nodes=list(nodes), until=until, **span) if nodes else []
    curves = [
        Curve("step time", "s", _points(rows, "step_time_s")),
        Curve("loss", "", _points(rows, "loss")),
        Curve("throughput", unit, _points(rows, "throughput")),
        Curve("GPU use", "%", _points(gpu, "gpu")),
    ]
    ranks = max(each.ranks for each in reports)
    return Timeline([each for each in curves if each.points], marks, rank, ranks)


def _marks(records: JobRecords) -> Iterator[Mark]:
    for row in records.events:
        about = (
            f"with job {row['packed_with']}"
            if row["kind"] == "packed"
            else row["state"]
            if row["kind"] == "ended"
            else ""
        )
        yield _mark(row, row["kind"], about)
    for row in records.saves:
        kind = "checkpoint failed" if row["state"] == "failed" else "checkpoint"
        yield _mark(row, kind, "" if row["step"] is None else f"step {row['step']}", "since")
    for row in records.alarms:
        yield _mark(row, "alarm", row["kind"], "since")
    for row in in_force(records).values():
        if row["error_type"] != "none":
            yield _mark(row, "verdict", row["signature"])
    for row in records.results:
        if row["outcome"] in ("done", "failed", "refused", "unverified"):
            yield _mark(row, row["action"], row["outcome"])


def _mark(row: Mapping[str, Any], kind: str, about: str, when: str = "time") -> Mark:
    return Mark(row[when].timestamp(), kind, row["attempt"], about)


def micros(moment: datetime) -> int:
    """Return `moment` in microseconds since 1970, exactly."""
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


def _points(rows: Sequence[Mapping[str, Any]], name: str) -> list[tuple[float, float, int]]:
    # A mean over no values is null or not a number, depending on the column.
    return [
        (row["at"], row[name], row.get("attempt", 0))
        for row in rows
        if row[name] is not None and row[name] == row[name]
    ]
