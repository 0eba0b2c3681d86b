"""What happened to a job over time: its measurements in even spans, and the events to mark beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from .database import Database

SPANS: Final = 240
"""Points of a curve at most: as many as a plot has columns to show them in."""
MARKS: Final = 400
"""Events of a job at most, the newest; an answer stays small for a job that restarts for ever."""

# One rank speaks for the job: the lowest that reports. Its rows stand together in the table, so that neither the number of ranks
# nor the size of the table counts.
_EXTENT: Final = """
SELECT rank, min(time) AS since, max(time) AS until, (SELECT uniqExact(rank) FROM job_throughput_1m WHERE job = {job:String}) AS ranks
FROM job_metrics
WHERE job = {job:String} AND rank = (SELECT min(rank) FROM job_throughput_1m WHERE job = {job:String})
GROUP BY rank
"""
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
WHERE m.job = {job:String} AND m.rank = {rank:Int64}
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
_EVENTS: Final = """
SELECT * FROM
(
    SELECT time, toString(kind) AS kind, attempt,
        multiIf(kind = 'packed', concat('with job ', packed_with), kind = 'ended', toString(state), '') AS about
    FROM job_events WHERE job = {job:String} AND kind IN ('submitted', 'started', 'packed', 'unpacked', 'requeued', 'ended')
    UNION ALL
    SELECT since, if(state = 'failed', 'checkpoint failed', 'checkpoint'), attempt, if(step IS NULL, '', concat('step ', toString(step)))
    FROM checkpoint_saves WHERE job = {job:String}
    UNION ALL
    SELECT since, 'alarm', attempt, toString(kind) FROM alarm_spans WHERE job = {job:String}
    UNION ALL
    SELECT time, 'verdict', attempt, toString(signature) FROM verdicts WHERE job = {job:String}
    UNION ALL
    SELECT time, toString(action), attempt, toString(outcome) FROM decision_results
    WHERE job = {job:String} AND outcome IN ('done', 'failed', 'refused', 'unverified')
)
ORDER BY time DESC, kind
LIMIT {limit:UInt32}
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
    """What is known of a job over time; `ranks` counts those that reported, of which `rank` is drawn (None: none did)."""

    curves: Sequence[Curve]
    marks: Sequence[Mark]
    rank: int | None
    ranks: int


def timeline(database: Database, job: str, nodes: Sequence[str]) -> Timeline:
    """Return the timeline of `job`, which ran on `nodes`. Raises as `Database.rows` does."""
    marks = [
        Mark(row["time"].timestamp(), row["kind"], row["attempt"], row["about"])
        for row in database.rows(_EVENTS, job=job, limit=MARKS)
    ][::-1]
    extent = next(iter(database.rows(_EXTENT, job=job)), None)
    if extent is None:
        return Timeline((), marks, None, 0)
    since, until = micros(extent["since"]), micros(extent["until"])
    span = {"since": since, "width": max(1, (until - since) // SPANS + 1)}
    rows = database.rows(_CURVES, job=job, rank=extent["rank"], **span)
    unit = next((row["unit"] for row in rows if row["unit"]), "")
    gpu = database.rows(_GPU, job=job, nodes=list(nodes), until=until, **span) if nodes else []
    curves = [
        Curve("step time", "s", _points(rows, "step_time_s")),
        Curve("loss", "", _points(rows, "loss")),
        Curve("throughput", unit, _points(rows, "throughput")),
        Curve("GPU use", "%", _points(gpu, "gpu")),
    ]
    return Timeline([each for each in curves if each.points], marks, extent["rank"], extent["ranks"])


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
