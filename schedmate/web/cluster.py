"""The start page: how many jobs there are, what needs a look, and which causes and nodes are behind it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sinks.clickhouse.queries import QueryResult

from .database import Database
from .decisions import list_decisions, standing_stops
from .jobs import RUNNING, all_jobs, count_jobs, in_condition, with_pace

DAYS: Final = 7  # days of the overview
SHOWN: Final = 8
"""Rows of each list on the start page; each names the view that has them all."""
GOODPUT_S: Final = 300.0
"""Seconds between two computations of the month's goodput, which changes slowly."""
RECENT_MINUTES: Final = 10  # minutes after which a GPU's sample no longer counts

_GPUS: Final = """
SELECT count() AS sampled, countIf(in_use) AS held, countIf(in_use AND busy < {idle:Float64}) AS idle
FROM
(
    SELECT argMax(notEmpty(g.jobs), g.time) AS in_use, ifNull(avg(g.utilisation), 100) AS busy
    FROM gpu_metrics AS g
    WHERE g.time > now64(6) - toIntervalMinute({minutes:UInt32})
    GROUP BY g.node, g.gpu
)
"""
# One number a job: the mean over the ranks that report.
_THROUGHPUT: Final = """
SELECT m.job AS job, toString(m.throughput_unit) AS unit, sum(m.throughput_sum) / sum(m.throughput_reports) AS throughput
FROM job_throughput_1m AS m
WHERE m.minute > now() - toIntervalMinute({minutes:UInt32}) AND m.throughput_unit IN {units:Array(String)}
GROUP BY job, unit
HAVING sum(m.throughput_reports) > 0
"""
ADDED_UP: Final = ["samples/s", "tokens/s"]
"""Units of throughput that mean the same in each job. Steps do not, and a rate of one GPU leaves open how many there are."""


@dataclass(frozen=True)
class _Trouble:
    """Jobs that share a cause.

    Attributes:
        cause: The cause, alarm or state, in words.
        node: The node that all of them ran on, where the cause is in the infrastructure; empty for none.
        is_failure: Whether they failed; otherwise they run, or completed, with an alarm.
        jobs: The first of them, the newest first.
        count: How many there are.
        gpus: GPUs of all of them; null where no job's are known.
        newest: When the newest of them changed.
        message: The line that the newest verdict quotes.
        quoted: The job of that verdict, and the `place` of the line; None for none.
        search: What finds them in the list of jobs.
    """

    cause: str
    node: str
    is_failure: bool
    jobs: Sequence[Mapping[str, Any]]
    count: int
    gpus: float | None
    newest: datetime
    message: str
    quoted: Mapping[str, Any] | None
    search: str


def group_troubles(rows: Iterable[Mapping[str, Any]]) -> list[_Trouble]:
    """Return the groups of `rows`, rows of the list of jobs with the newest first, the largest group first."""
    groups: dict[tuple[str, bool], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((_cause(row), row["condition"].is_failure), []).append(row)
    found = [_group(cause, of_it, is_failure=is_failure) for (cause, is_failure), of_it in groups.items()]
    return sorted(found, key=lambda group: (-group.count, -group.newest.timestamp()))


def _group(cause: str, rows: Sequence[Mapping[str, Any]], *, is_failure: bool) -> _Trouble:
    known = [row["gpus"] for row in rows if row["gpus"] is not None]
    shared = set.intersection(*({*row["nodes"]} for row in rows))
    quoted = next((row for row in rows if row["message"]), None)
    in_infrastructure = is_failure and all(row["error_type"] == "infrastructure" for row in rows)
    return _Trouble(
        cause=cause.replace("_", " "),
        node=min(shared) if in_infrastructure and len(shared) == 1 else "",
        is_failure=is_failure,
        jobs=rows[:4],
        count=len(rows),
        gpus=sum(known) if known else None,
        newest=max(row["changed"] for row in rows),
        message=quoted["message"] if quoted else "",
        quoted=quoted if quoted and quoted["place"] else None,
        search=rows[0]["cause"] if is_failure else "",
    )


def _cause(row: Mapping[str, Any]) -> str:
    if row["condition"].is_failure:
        return str(row["cause"] or row["error_type"] or row["reason"] or row["condition"])
    return str(row["alarms"][0] if row["alarms"] else row["condition"])


@dataclass(frozen=True)
class Cluster:
    """Content of the start page.

    Attributes:
        counts: Jobs by condition; those that ended, of the last `DAYS` days.
        gpus: GPUs sampled within `RECENT_MINUTES`, those that a job holds, and those of them that are idle.
        throughput: Of the jobs that run and reported within `RECENT_MINUTES`, by unit: `throughput` of all together, and how many `jobs`.
        alarmed: Jobs that run with an alarm.
        trouble: Jobs that failed or run with an alarm, the newest first.
        troubled: How many there are of them in all.
        groups: The same jobs by cause, the largest group first.
        slower: Jobs slower now than in their own past.
        causes: What ended most attempts within `DAYS` days.
        nodes: Nodes with infrastructure failures within `DAYS` days, the worst first.
        waiting: Decisions that wait for a person.
        stops: Standing stops of all actions.
    """

    counts: Mapping[str, Mapping[str, Any]]
    gpus: Mapping[str, Any]
    throughput: Mapping[str, Mapping[str, Any]]
    alarmed: int
    trouble: Sequence[Mapping[str, Any]]
    troubled: int
    groups: Sequence[_Trouble]
    slower: Sequence[Mapping[str, Any]]
    causes: Sequence[Mapping[str, Any]]
    nodes: Sequence[Mapping[str, Any]]
    waiting: Sequence[Mapping[str, Any]]
    stops: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Overview:
    """The part of the page that is the same for every visitor for a while: all jobs, and answers that need all jobs or the whole history.

    Attributes:
        jobs: All jobs, the newest first.
        counts: As in `Cluster`.
        trouble: All jobs that failed or run with an alarm, the newest first.
        gpus: As in `Cluster`.
        throughput: As in `Cluster`.
        slower: As in `Cluster`.
        causes: As in `Cluster`.
        nodes: As in `Cluster`.
    """

    jobs: Sequence[Mapping[str, Any]]
    counts: Mapping[str, Mapping[str, Any]]
    trouble: Sequence[Mapping[str, Any]]
    gpus: Mapping[str, Any]
    throughput: Mapping[str, Mapping[str, Any]]
    slower: Sequence[Mapping[str, Any]]
    causes: Sequence[Mapping[str, Any]]
    nodes: Sequence[Mapping[str, Any]]


def overview(database: Database) -> Overview:
    """Return the overview as it is now. Raises as `Database.rows` does."""
    jobs = all_jobs(database)
    return Overview(
        jobs=jobs,
        counts=count_jobs(jobs, DAYS),
        trouble=[row for row in jobs if in_condition(row, "trouble")],
        gpus=database.rows(_GPUS, minutes=RECENT_MINUTES, idle=5)[0],
        throughput=_throughput(database, jobs),
        slower=_rows(database.question("slower", {"limit": str(SHOWN)})),
        causes=_rows(database.question("top_causes", {"days": str(DAYS), "limit": str(SHOWN)})),
        nodes=_rows(database.question("nodes", {"weeks": "1", "limit": str(SHOWN)})),
    )


def cluster(database: Database, known: Overview) -> Cluster:
    """Return what the start page shows. Raises as `Database.rows` does."""
    return Cluster(
        counts=known.counts,
        gpus=known.gpus,
        throughput=known.throughput,
        alarmed=sum(bool(row["alarms"]) for row in known.trouble),
        trouble=with_pace(database, known.trouble[:SHOWN]),
        troubled=len(known.trouble),
        groups=group_troubles(known.trouble)[:SHOWN],
        slower=known.slower,
        causes=known.causes,
        nodes=known.nodes,
        waiting=[each for each in list_decisions(database, limit=50) if each["waits"]],
        stops=standing_stops(database),
    )


def _throughput(database: Database, jobs: Sequence[Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
    run = {row["job"] for row in jobs if row["condition"] in RUNNING}
    found: dict[str, dict[str, Any]] = {}
    for row in database.rows(_THROUGHPUT, minutes=RECENT_MINUTES, units=ADDED_UP):
        if row["job"] in run:
            of_unit = found.setdefault(row["unit"], {"throughput": 0.0, "jobs": 0})
            of_unit["throughput"] += row["throughput"]
            of_unit["jobs"] += 1
    return dict(sorted(found.items()))


def _rows(answer: QueryResult) -> list[dict[str, Any]]:
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
