"""List of jobs: the newest attempt of each, with its state and problems."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ..job_state import JobState, StateAlarm, StateWord, job_state
from ..times import seconds_of
from .database import Database

PAGE: Final = 50
"""Jobs on a page."""
EXPORTED: Final = 10_000
"""Jobs in a JSON or CSV twin at most: one answer must not take all memory."""

CONDITIONS: Final[Mapping[str, str]] = {
    "": "all",
    "trouble": "failed, or with an alarm",
    "running": "running",
    "alarm": "with an alarm",
    "failed": "failed",
    "completed": "completed",
    "cancelled": "cancelled",
    "queued": "queued",
}
"""Groups of states by which the page filters, and their labels."""
SORTS: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "newest": lambda row: -row["changed"].timestamp(),
    "oldest": lambda row: row["changed"],
    "job": lambda row: row["job"],
    "user": lambda row: row["user"],
    "gpus": lambda row: -(row["gpus"] or 0.0),
    "longest": lambda row: -_ran_s(row),
    "slowest": lambda row: -(row["step_time_s"] or 0.0),
}
"""Orders, and the key of each. Equals stay in the order of the newest. The slowest step is that of jobs that run: the others come after."""
RUNNING: Final = frozenset({StateWord.RUNNING, StateWord.SILENT})
"""States of jobs that run."""
COLUMNS: Final = (
    "job", "name", "attempt", "condition", "reason", "since", "user", "nodes", "gpus", "started", "ended", "state", "exit_code", "signal",
    "cause", "error_type", "message", "causes", "alarms", "step", "step_time_s", "throughput", "throughput_unit",
)  # fmt: skip
"""Columns of jobs in JSON and CSV."""

# The newest attempt of each job. What pipes report counts only for jobs that no scheduler has reported.
# The view `verdicts` would read all columns of all failures. `one_job.py` does the same for the rows of one job.
_JOBS: Final = """
WITH
newest AS
(
    SELECT job, argMax(incarnation, (kind IN ('submitted', 'started'), time)) AS incarnation
    FROM scheduler_events GROUP BY job
),
latest AS
(
    SELECT
        e.job AS job, e.incarnation AS incarnation, e.attempt AS attempt,
        countIf(e.kind = 'started') > 0 AS has_started,
        minIf(e.time, e.kind = 'started') AS first_start,
        maxOrNullIf(e.time, e.kind IN ('ended', 'requeued')) AS last_end,
        argMaxIf((e.nodes, e.gpus), e.time, e.kind = 'started') AS place,
        argMaxIf(e.user, e.time, e.kind IN ('started', 'submitted')) AS user,
        argMaxIf(e.name, e.time, e.name != '') AS name,
        argMaxIf((e.state, e.exit_code, e.signal), e.time, e.kind = 'ended') AS how,
        argMaxIf(e.kind, e.time, e.kind IN ('submitted', 'started', 'requeued', 'ended')) AS last_kind,
        max(e.time) AS last_event
    FROM scheduler_events AS e
    WHERE (e.job, e.incarnation) IN (SELECT job, incarnation FROM newest)
    GROUP BY e.job, e.incarnation, e.attempt
    ORDER BY job, attempt DESC
    LIMIT 1 BY job
),
verdict AS
(
    SELECT
        f.job AS job, if(f.job IN (SELECT job FROM newest), f.incarnation, '') AS incarnation, f.attempt AS attempt,
        argMin(
            (f.error_type, f.signature, f.message, f.root_topic, f.root_partition, f.root_offset, f.root_line),
            (-f.revision, -f.confidence, f.id)
        ) AS shown
    FROM failures AS f GROUP BY job, incarnation, attempt
),
past AS
(
    SELECT job, arraySort(groupUniqArray(toString(shown.2))) AS causes
    FROM verdict WHERE shown.1 != 'none' AND shown.2 != '' GROUP BY job
),
standing AS
(
    SELECT job, attempt, groupArray((toString(kind), detail, since, over)) AS raised
    FROM
    (
        SELECT
            a.job AS job, a.attempt AS attempt, a.kind AS kind, a.since AS since,
            argMaxIf(a.detail, a.time, a.raised) AS detail,
            maxOrNullIf(a.time, NOT a.raised) AS over
        FROM alarms AS a GROUP BY job, attempt, kind, since HAVING max(a.raised)
    )
    GROUP BY job, attempt
),
known AS
(
    SELECT * FROM latest
    UNION ALL
    SELECT
        m.job, '', max(m.attempt), false, min(m.minute), NULL, ([], NULL), '', '', ('', NULL, NULL), '', max(m.minute)
    FROM job_throughput_1m AS m WHERE m.job NOT IN (SELECT job FROM latest) GROUP BY m.job
),
judged AS
(
    SELECT
        l.job AS job, l.incarnation AS incarnation, l.attempt AS attempt, toString(l.user) AS user, l.name AS name,
        arrayMap(n -> toString(n), l.place.1) AS nodes, l.place.2 AS gpus,
        if(l.has_started, toNullable(l.first_start), NULL) AS started,
        if(l.last_end >= l.first_start, l.last_end, NULL) AS ended,
        toString(l.how.1) AS state, l.how.2 AS exit_code, l.how.3 AS signal,
        if(v.shown.1 = 'none', '', toString(v.shown.1)) AS error_type,
        if(error_type = '', '', toString(v.shown.2)) AS cause,
        if(error_type = '', '', v.shown.3) AS message,
        if(error_type = '', ('', NULL, NULL, NULL), (toString(v.shown.4), v.shown.5, v.shown.6, v.shown.7)) AS root,
        p.causes AS causes,
        l.last_event AS changed,
        multiIf(
            l.last_kind = '', 'unknown',
            l.last_kind = 'requeued' OR NOT l.has_started, 'queued',
            ended IS NULL, 'running',
            'ended'
        ) AS phase,
        s.raised AS raised
    FROM known AS l
    LEFT JOIN verdict AS v ON v.job = l.job AND v.incarnation = l.incarnation AND v.attempt = l.attempt
    LEFT JOIN past AS p ON p.job = l.job
    LEFT JOIN standing AS s ON s.job = l.job AND s.attempt = l.attempt
)
"""

_ALL: Final = "SELECT * FROM judged ORDER BY changed DESC, job LIMIT {limit:UInt32}"

# The newest hour in which a job reported, minute by minute, over its ranks.
_PACE: Final = """
SELECT
    job,
    argMax(step, minute) AS step,
    argMax(step_s, minute) AS step_time_s,
    argMax(speed, minute) AS throughput,
    argMax(unit, minute) AS throughput_unit,
    max(minute) AS reported,
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
            search=given.get("q", "").strip()[:200],
            condition=given.get("show", "") if given.get("show", "") in CONDITIONS else "",
            sort=given.get("sort", "") if given.get("sort", "") in SORTS else "newest",
            page=min(max(int(page), 1), 100_000) if page.isascii() and page.isdigit() and len(page) < 9 else 1,
        )

    def link(self, **changes: object) -> dict[str, str]:
        """Return the parameters of a link to this view, with `changes`; empty ones are left out."""
        page = changes.get("page", 1)
        now = {"q": self.search, "show": self.condition, "sort": self.sort, "page": page, **changes}
        defaults = {"q": "", "show": "", "sort": "newest", "page": "1"}
        return {name: str(value) for name, value in now.items() if str(value) != defaults[name]}


@dataclass(frozen=True)
class JobList:
    """A page of jobs. `found` counts those on all pages."""

    rows: Sequence[Mapping[str, Any]]
    found: int
    filter: Filter = field(default_factory=Filter)
    size: int = PAGE

    @property
    def pages(self) -> int:
        """Number of pages; one if nothing was found."""
        return max(1, -(-self.found // self.size))


def all_jobs(database: Database) -> Sequence[Mapping[str, Any]]:
    """Return all jobs, the newest first. Raises as `Database.rows` does."""
    now = datetime.now(UTC).timestamp()
    # The newest 200,000; a job takes about a kilobyte of memory.
    return [with_state(row, now) for row in database.rows(_JOBS + _ALL, limit=200_000)]


def with_state(row: Mapping[str, Any], now: float) -> Mapping[str, Any]:
    """Return the row of a job with its state, for its `phase` and the alarms that were `raised`: (kind, detail, since, over) each."""
    known = {name: value for name, value in row.items() if name not in {"phase", "raised", "root"}}
    ended = seconds_of(row["ended"])
    raised = [
        StateAlarm(kind, detail, since.timestamp(), seconds_of(over)) for kind, detail, since, over in row["raised"]
    ]
    state = job_state(
        row["phase"],
        started=seconds_of(row["started"]),
        ended=ended,
        changed=seconds_of(row["changed"]),
        scheduler_state=row["state"],
        exit_code=row["exit_code"],
        signal=row["signal"],
        cause=row["cause"] or row["error_type"],
        alarms=raised,
        now=now,
    )
    alarms = {each.kind for each in raised if row["phase"] != "queued" and each.describes(ended)}
    return known | state_fields(state) | {"alarms": sorted(alarms), "place": place_of(*row["root"])}


def place_of(topic: str, partition: int | None, offset: int | None, line: int | None) -> Mapping[str, Any] | None:
    """Return the place of a verdict's line; None where no line explains it."""
    return (
        {"topic": topic, "partition": partition, "offset": offset, "line": line}
        if topic and offset is not None
        else None
    )


def state_fields(state: JobState) -> dict[str, Any]:
    """Return what the row of a job holds of its state."""
    since = None if state.since is None else datetime.fromtimestamp(state.since, UTC)
    return {"condition": state.word, "reason": state.reason, "since": since, "expressed": state.expressed}


def sentence(row: Mapping[str, Any], now: float) -> str:
    """Return the state of a job in one line; `now` is in seconds since 1970."""
    return JobState(row["condition"], row["reason"], seconds_of(row["since"])).sentence(now)


def list_jobs(database: Database, known: Iterable[Mapping[str, Any]], wanted: Filter, size: int = PAGE) -> JobList:
    """Return one page of those of the jobs `known` that `wanted` selects. Raises as `Database.rows` does."""
    text = wanted.search.casefold()
    found = [row for row in known if in_condition(row, wanted.condition) and (not text or _holds(row, text))]
    if wanted.sort == "slowest":
        found = _slowest_first(database, found)
    elif wanted.sort != "newest":
        found.sort(key=SORTS[wanted.sort])
    first = (wanted.page - 1) * size
    return JobList(with_pace(database, found[first : first + size]), len(found), wanted, size)


def _slowest_first(database: Database, found: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    # The pace of a job that runs is asked for: of the newest 5,000 at most.
    run = [row for row in found if row["condition"] in RUNNING][:5_000]
    compared = {row["job"] for row in run}
    paced = sorted(with_pace(database, run), key=SORTS["slowest"])
    return [*paced, *(row for row in found if row["job"] not in compared)]


def count_jobs(known: Iterable[Mapping[str, Any]], days: float) -> Mapping[str, Mapping[str, Any]]:
    """Return jobs and GPUs by group (`CONDITIONS`): of jobs that run or wait, and of those that changed within `days`."""
    since = datetime.now(UTC) - timedelta(days=days)
    counts: dict[str, dict[str, Any]] = {}  # `gpus` is null where no job's are known
    for row in known:
        group = _group(row["condition"])
        if row["condition"].is_live or row["changed"] > since:
            count = counts.setdefault(group, {"jobs": 0, "gpus": None})
            count["jobs"] += 1
            if group == "running" and row["gpus"] is not None:
                count["gpus"] = (count["gpus"] or 0.0) + row["gpus"]
    return counts


def _group(word: StateWord) -> str:
    """Return the name in `CONDITIONS` of the jobs that are in a state."""
    return "running" if word in RUNNING else "failed" if word.is_failure else word


def in_condition(row: Mapping[str, Any], condition: str) -> bool:
    """Return whether a job is to be shown among those of `condition`, one of `CONDITIONS`."""
    if condition == "trouble":
        return row["condition"].is_failure or bool(row["alarms"])
    if condition == "alarm":
        return bool(row["alarms"])
    return not condition or _group(row["condition"]) == condition


def _holds(row: Mapping[str, Any], text: str) -> bool:
    return any(
        text in each.casefold() for each in (row["job"], row["name"], row["user"], *row["causes"], *row["nodes"])
    )


def _ran_s(row: Mapping[str, Any]) -> float:
    if row["started"] is None:
        return 0.0
    return float(((row["ended"] or datetime.now(UTC)) - row["started"]).total_seconds())


def with_pace(database: Database, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Add each job's newest step, step time and throughput, and its step times of the last hour."""
    none: Mapping[str, Any] = {
        "step": None,
        "step_time_s": None,
        "throughput": None,
        "throughput_unit": "",
        "reported": None,
        "steps": [],
    }
    pace: dict[str, Mapping[str, Any]] = {}
    for start in range(0, len(rows), 500):  # names are bound as one parameter, which must stay below a server's limit
        names = [row["job"] for row in rows[start : start + 500]]
        pace |= {row["job"]: row for row in database.rows(_PACE, jobs=names)}
    return [{**row, **none, **pace.get(row["job"], {})} for row in rows]
