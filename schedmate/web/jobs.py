"""What the list of jobs shows: each job's newest attempt, what it is doing, and what is wrong with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .database import Database

PAGE: Final = 50
"""Jobs on a page."""
EXPORTED: Final = 10_000
"""Jobs in a JSON or CSV twin at most: one answer must not take all memory."""
DEEPEST_PAGE: Final = 100_000
LONGEST_SEARCH: Final = 200

CONDITIONS: Final[Mapping[str, str]] = {
    "": "all",
    "trouble": "failed, or running with an alarm",
    "running": "running",
    "failed": "failed",
    "ended": "ended well",
    "queued": "queued",
}
"""What a job can be filtered by, and what it says on the page."""
SORTS: Final[Mapping[str, str]] = {
    "newest": "changed DESC, job",
    "oldest": "changed, job",
    "job": "job",
    "user": "user, changed DESC, job",
    "gpus": "gpus DESC, changed DESC, job",
    "longest": "dateDiff('second', started, ifNull(ended, now64(6))) DESC, job",
}
"""Orders, and the expression of each: a person's choice is looked up here and never becomes SQL itself."""
COLUMNS: Final = (
    "job", "attempt", "condition", "user", "nodes", "gpus", "started", "ended", "state", "exit_code", "signal",
    "cause", "error_type", "message", "causes", "alarms", "step", "step_time_s", "throughput", "throughput_unit",
)  # fmt: skip
"""What a twin holds of each job."""

# The newest attempt of each job. A pipe tells of the command that it runs; where a scheduler speaks of the same attempt, its word counts.
# `{only}` narrows every part to one job: the tables are sorted by job, so that this reads a few rows. The view `verdicts` would read
# all columns of all failures.
_JOBS: Final = """
WITH
latest AS
(
    SELECT
        e.job AS job, e.attempt AS attempt,
        countIf(e.kind = 'started') > 0 AS has_started,
        argMinIf(e.time, (e.scheduler = 'pipe', e.time), e.kind = 'started') AS first_start,
        argMaxOrNullIf(e.time, (e.scheduler != 'pipe', e.time), e.kind IN ('ended', 'requeued')) AS last_end,
        argMaxIf((e.nodes, ifNull(e.gpus, 0)), (e.scheduler != 'pipe', e.time), e.kind = 'started') AS place,
        argMaxIf(e.user, (e.scheduler != 'pipe', e.time), e.kind IN ('started', 'submitted')) AS user,
        argMaxIf((e.state, e.exit_code, e.signal), (e.scheduler != 'pipe', e.time), e.kind = 'ended') AS how,
        argMaxIf(e.kind, (e.scheduler != 'pipe', e.time), e.kind IN ('submitted', 'started', 'requeued', 'ended')) AS last_kind,
        max(e.time) AS last_event
    FROM job_events AS e
    WHERE {only}
    GROUP BY e.job, e.attempt
    ORDER BY job, attempt DESC
    LIMIT 1 BY job
),
verdict AS
(
    SELECT
        f.job AS job, f.attempt AS attempt,
        argMin((f.error_type, f.signature, f.message), (-f.revision, -f.confidence, f.id)) AS said
    FROM failures AS f WHERE {only} GROUP BY f.job, f.attempt
),
past AS
(
    SELECT job, arraySort(groupUniqArray(toString(said.2))) AS causes
    FROM verdict WHERE said.1 != 'none' AND said.2 != '' GROUP BY job
),
standing AS
(
    SELECT job, attempt, arraySort(groupUniqArray(toString(kind))) AS kinds
    FROM (SELECT job, attempt, kind, since FROM alarms WHERE {only} GROUP BY job, attempt, kind, since HAVING min(raised) = true)
    GROUP BY job, attempt
),
known AS
(
    SELECT * FROM latest
    UNION ALL
    SELECT
        m.job, max(m.attempt), false, min(m.minute), NULL, ([], 0), '', ('', NULL, NULL), '', max(m.minute)
    FROM job_throughput_1m AS m WHERE {only} AND m.job NOT IN (SELECT job FROM latest) GROUP BY m.job
),
judged AS
(
    SELECT
        l.job AS job, l.attempt AS attempt, toString(l.user) AS user,
        arrayMap(n -> toString(n), l.place.1) AS nodes, l.place.2 AS gpus,
        if(l.has_started, toNullable(l.first_start), NULL) AS started,
        if(l.last_end >= l.first_start, l.last_end, NULL) AS ended,
        toString(l.how.1) AS state, l.how.2 AS exit_code, l.how.3 AS signal,
        if(v.said.1 = 'none', '', toString(v.said.1)) AS error_type,
        if(error_type = '', '', toString(v.said.2)) AS cause,
        if(error_type = '', '', v.said.3) AS message,
        p.causes AS causes,
        l.last_event AS changed,
        multiIf(
            l.last_kind = '', 'unknown',
            l.last_kind = 'requeued' OR NOT l.has_started, 'queued',
            ended IS NULL, 'running',
            error_type != '' OR ifNull(exit_code, 0) != 0 OR ifNull(signal, 0) != 0, 'failed',
            'ended'
        ) AS condition,
        if(condition IN ('running', 'unknown'), s.kinds, []) AS alarms
    FROM known AS l
    LEFT JOIN verdict AS v ON v.job = l.job AND v.attempt = l.attempt
    LEFT JOIN past AS p ON p.job = l.job
    LEFT JOIN standing AS s ON s.job = l.job AND s.attempt = l.attempt
)
"""

_LIST: Final = """
SELECT *, count() OVER () AS found
FROM judged
WHERE ({condition:String} = '' OR condition = {condition:String}
    OR ({condition:String} = 'trouble' AND (condition = 'failed' OR notEmpty(alarms))))
  AND ({search:String} = '' OR positionCaseInsensitiveUTF8(
        concat(job, '\\n', user, '\\n', arrayStringConcat(causes, '\\n'), '\\n', arrayStringConcat(nodes, '\\n')), {search:String}) > 0)
ORDER BY {order}
LIMIT {limit:UInt32} OFFSET {offset:UInt32}
"""

_COUNTS: Final = """
SELECT condition, count() AS jobs, sum(if(condition = 'running', gpus, 0)) AS gpus, countIf(notEmpty(alarms)) AS alarmed
FROM judged
WHERE condition IN ('running', 'queued') OR changed > now() - toIntervalDay({days:UInt32})
GROUP BY condition
"""

# The newest hour in which a job reported, minute by minute, over its ranks.
_PACE: Final = """
SELECT
    job,
    argMax(step, minute) AS step,
    argMax(step_s, minute) AS step_time_s,
    argMax(speed, minute) AS throughput,
    argMax(unit, minute) AS throughput_unit,
    arrayMap(each -> each.2, arraySort(groupArray(60)((minute, step_s)))) AS steps
FROM
(
    SELECT
        m.job AS job, m.minute AS minute,
        max(m.last_step) AS step,
        if(sum(m.step_time_reports) > 0, sum(m.step_time_sum) / sum(m.step_time_reports), NULL) AS step_s,
        if(sum(m.throughput_reports) > 0, sum(m.throughput_sum) / sum(m.throughput_reports), NULL) AS speed,
        anyIf(toString(m.throughput_unit), m.throughput_unit != '') AS unit
    FROM job_throughput_1m AS m
    WHERE m.job IN {jobs:Array(String)}
    GROUP BY m.job, m.minute
    ORDER BY m.job, m.minute DESC
    LIMIT 60 BY m.job
)
GROUP BY job
"""


@dataclass(frozen=True)
class Filter:
    """Which jobs to show, and in which order. Values that are none fall back to the default, so that every link shows something."""

    search: str = ""
    condition: str = ""
    sort: str = "newest"
    page: int = 1

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "Filter":
        """Return the filter that the parameters of a link name."""
        page = given.get("page", "")
        return cls(
            search=given.get("q", "").strip()[:LONGEST_SEARCH],
            condition=given.get("show", "") if given.get("show", "") in CONDITIONS else "",
            sort=given.get("sort", "") if given.get("sort", "") in SORTS else "newest",
            page=min(max(int(page), 1), DEEPEST_PAGE) if page.isascii() and page.isdigit() and len(page) < 9 else 1,
        )

    def link(self, **changes: object) -> dict[str, str]:
        """Return the parameters of a link to this view, with `changes`; those that say nothing are left out."""
        page = changes.get("page", 1)
        now = {"q": self.search, "show": self.condition, "sort": self.sort, "page": page, **changes}
        unsaid = {"q": "", "show": "", "sort": "newest", "page": "1"}
        return {name: str(value) for name, value in now.items() if str(value) != unsaid[name]}


@dataclass(frozen=True)
class JobList:
    """A page of jobs. `found` counts those on all pages."""

    rows: Sequence[Mapping[str, Any]]
    found: int
    filter: Filter = field(default_factory=Filter)
    size: int = PAGE

    @property
    def pages(self) -> int:
        """How many pages there are; one where nothing was found."""
        return max(1, -(-self.found // self.size))


def list_jobs(database: Database, wanted: Filter, size: int = PAGE) -> JobList:
    """Return one page of the jobs that `wanted` selects. Raises as `Database.rows` does."""
    rows = database.rows(
        _JOBS.replace("{only}", "true") + _LIST.replace("{order}", SORTS[wanted.sort]),
        condition=wanted.condition,
        search=wanted.search,
        limit=size,
        offset=(wanted.page - 1) * size,
    )
    return JobList(_with_pace(database, rows), rows[0]["found"] if rows else 0, wanted, size)


def one_job(database: Database, job: str) -> Mapping[str, Any] | None:
    """Return what the list says of `job`; None where nothing is known of it. Raises as `Database.rows` does."""
    rows = database.rows(_JOBS.replace("{only}", "job = {job:String}") + "SELECT * FROM judged", job=job)
    return next(iter(_with_pace(database, rows)), None)


def count_jobs(database: Database, days: int) -> Mapping[str, Mapping[str, Any]]:
    """Return how many jobs there are by condition: those that run or wait, and those that changed within `days`."""
    return {row["condition"]: row for row in database.rows(_JOBS.replace("{only}", "true") + _COUNTS, days=days)}


def _with_pace(database: Database, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Add each job's newest step, step time and throughput, and its step times of the last hour."""
    none = {"step": None, "step_time_s": None, "throughput": None, "throughput_unit": "", "steps": []}
    pace: dict[str, Mapping[str, Any]] = {}
    for start in range(0, len(rows), 500):  # names are bound as one parameter, which must stay below a server's limit
        names = [row["job"] for row in rows[start : start + 500]]
        pace |= {row["job"]: row for row in database.rows(_PACE, jobs=names)}
    return [{**row, **none, **pace.get(row["job"], {})} for row in rows]
