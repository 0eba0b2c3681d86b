"""The views: each reads a link's parameters, asks the database, and answers as a page or as its twin."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from processors.diagnose import Signature
from schedmate_records import JobReference
from sinks.clickhouse import queries
from streams.transport import TransportError

from ..explain import facts_of, read_records, sections
from ..log_link import log_link
from ..shadow import DECISION, EXPLANATION, SUMMARY, as_row, judge, summarise, summary
from ..shadow import gather as gather_shadows
from . import jobs, nodes, spot
from .cluster import DAYS, RECENT_MINUTES, Overview, cluster
from .compare import Run, charts
from .database import Database
from .decisions import COLUMNS as DECISION_COLUMNS
from .decisions import list_decisions, standing_stops
from .estimate import expected, read_estimate
from .lines import Excerpt, ReadSpan, asked_lines
from .now import Now, lay_over, newer_estimate
from .one_job import one_job
from .plot import draw
from .plot_data import plot_data
from .ranks import rank_map
from .refreshed import Refreshed
from .render import render
from .reports import read_reports
from .start import read_start, starts
from .stored_lines import stored_lines
from .timeline import timeline
from .twins import as_csv, as_json, picked

LONGEST_NAME: Final = 1024  # characters of a job, node or user in a link
LARGEST_NUMBER: Final = 2**31
SHADOW_DAYS, MOST_SHADOW_DAYS = 7, 366
QUESTION_COLUMNS: Final = ("name", "title", "about")
NOTICES: Final = {
    "approve": "Approved. The bridge looks at everything once more, and then acts.",
    "reject": "Rejected. Nothing will be done.",
    "stop": "Stopped. No bridge begins an action until somebody lifts it.",
    "resume": "Lifted. What waited and is still in time is looked at again.",
}
"""Notices to an operator once Kafka has the record, before the database shows it."""

Form = Literal["html", "json", "csv"]
View = Callable[..., Response]
"""Takes a request, and the form of the answer."""


class Pages:
    """The views of one database.

    Args:
        database: Where everything is read from.
        overview: What stays the same for every visitor for a while.
        known_nodes: The list of nodes, likewise.
        signatures: Of verdicts, by name: what to do about each.
        read: Reads lines of logs; None where there is no Kafka to read them from.
        now: Knows what jobs do now; None where there is no Redis to ask.
        log_link: Template of links from verdicts to another system; empty for none.
    """

    def __init__(
        self,
        database: Database,
        overview: Refreshed[Overview],
        known_nodes: Refreshed[Sequence[Mapping[str, Any]]],
        signatures: Mapping[str, Signature],
        *,
        read: ReadSpan | None = None,
        now: Now | None = None,
        log_link: str = "",
    ) -> None:
        self._log_link = log_link
        self._database = database
        self._overview = overview
        self._nodes = known_nodes
        self._signatures = signatures
        self._read = read
        self._now = now

    def start(self, request: Request, form: Form = "html") -> Response:
        """The cluster at a glance."""
        overview, age_s = self._overview.get()
        known = cluster(self._database, overview)
        known = replace(known, trouble=self._as_of_now(known.trouble))
        if form == "json":
            return as_json(known)
        if form == "csv":
            trouble = jobs.with_pace(self._database, overview.trouble[: jobs.EXPORTED])
            return as_csv("cluster", jobs.COLUMNS, _values(self._as_of_now(trouble), jobs.COLUMNS))
        return render(request, "cluster.html", cluster=known, days=DAYS, minutes=RECENT_MINUTES, age_s=age_s)

    def jobs(self, request: Request, form: Form = "html") -> Response:
        """Jobs: searched, filtered, sorted, page by page."""
        wanted = jobs.Filter.read(request.query_params)
        overview, age_s = self._overview.get()
        found = jobs.list_jobs(self._database, overview.jobs, wanted, jobs.PAGE if form == "html" else jobs.EXPORTED)
        found = replace(found, rows=self._as_of_now(found.rows))
        if form == "json":
            return as_json({"found": found.found, "jobs": picked(found.rows, jobs.COLUMNS)})
        if form == "csv":
            return as_csv("jobs", jobs.COLUMNS, _values(found.rows, jobs.COLUMNS))

        def link(**changes: object) -> str:
            return f"/jobs?{urlencode(wanted.link(**changes))}"

        return render(
            request,
            "jobs.html",
            list=found,
            filter=wanted,
            link=link,
            conditions=jobs.CONDITIONS,
            sorts=list(jobs.SORTS),
            age_s=age_s,
        )

    def job(self, request: Request, form: Form = "html") -> Response:
        """One job: its curves, verdict and decisions."""
        name, attempt = request.query_params.get("id", "")[:LONGEST_NAME], _number(request, "attempt")
        if not name:
            raise HTTPException(404, "No job was named.")
        records = self._database.use(lambda client: read_records(client, name))
        facts = self._database.use(lambda client: facts_of(client, records, attempt))
        found = records.found
        reports = read_reports(self._database, found)
        row = one_job(self._database, records, reports)
        if facts is None and row is None:
            raise HTTPException(404, f"Nothing is on record of job {name!r}.")
        name = str(JobReference(found.job, found.incarnation)) if found.others else found.job
        status = self._now.states([row]).get(found.job) if row and self._now and found.is_newest else None
        if row and status:
            row = lay_over(row, status)
        known = timeline(self._database, records, reports, row["nodes"] if row else [])
        estimate = newer_estimate(status, read_estimate(self._database, row)) if row else None
        start = read_start(self._database, row) if row else None
        if form == "json":
            about = picked([row], jobs.COLUMNS)[0] if row else None
            return as_json({"job": about, "estimate": estimate, "start": start, "facts": facts, "timeline": known})
        if form == "csv":
            points = ((curve.name, curve.unit, *point) for curve in known.curves for point in curve.points)
            return as_csv("job", ("measurement", "unit", "unix_time", "value", "attempt"), points)
        parts = list(sections(facts, self._signatures)) if facts else []
        now = time.time()
        runs = row is not None and row["condition"] in jobs.RUNNING and attempt in (None, row["attempt"])
        marks, plot = known.marks[::-1], draw(known, now if runs else None)
        return render(
            request, "job.html",
            name=name, job=found.job, others=found.others, row=row, estimate=estimate,
            state=jobs.sentence(row, now) if row else "",
            expected=expected(estimate) if estimate else None, start=starts(start) if start else "",
            parts_of=parts, timeline=known, marks=marks, plot=plot, curves=plot_data(known, plot) if plot else "", facts=facts,
            waiting=[each for each in list_decisions(self._database, found.job) if each["waits"]], verdict=facts.verdict if facts else None,
            current=facts is not None and (row is None or attempt is not None or facts.attempt == row["attempt"]),
            attempts=sorted({mark.attempt for mark in marks}), ranks=rank_map(self._database, found.job, reports),
            lines=self._read is not None,
            log_link=log_link(self._log_link, name, facts.verdict) if self._log_link and facts and facts.verdict else "",
        )  # fmt: skip

    def compare(self, request: Request, form: Form = "html") -> Response:
        """Two jobs, their curves on the same charts."""
        names = [request.query_params.get(each, "")[:LONGEST_NAME] for each in ("a", "b")]
        runs = [self._run(name) for name in names] if all(names) else []
        if form == "json":
            return as_json([{"job": picked([run.row], jobs.COLUMNS)[0], "curves": run.timeline.curves} for run in runs])
        if form == "csv":
            points = (
                (run.row["job"], curve.name, curve.unit, *point)
                for run in runs
                for curve in run.timeline.curves
                for point in curve.points
            )
            return as_csv("compare", ("job", "measurement", "unit", "unix_time", "value", "attempt"), points)
        return render(request, "compare.html", names=names, runs=runs, charts=list(charts(runs)) if runs else [])

    def _run(self, name: str) -> Run:
        records = self._database.use(lambda client: read_records(client, name))
        reports = read_reports(self._database, records.found)
        row = one_job(self._database, records, reports)
        if row is None:
            raise HTTPException(404, f"Nothing is on record of job {name!r}.")
        known = timeline(self._database, records, reports, row["nodes"])
        return Run(row, jobs.sentence(row, time.time()), known)

    def lines(self, request: Request, form: Form = "html") -> Response:
        """The lines of a log around one."""
        found = self._lines(request)
        if form == "json":
            return as_json(found)
        if form == "csv":
            return as_csv(
                "lines", ("offset", "line", "text"), ([one.place.offset, one.number, one.text] for one in found.lines)
            )
        return render(request, "lines.html", excerpt=found)

    def _lines(self, request: Request) -> Excerpt:
        """Return lines from Kafka, else from ClickHouse. Raises as `asked_lines` does."""
        failed: Exception | None = None
        try:
            if self._read is not None:
                return asked_lines(self._read, request)
        except (HTTPException, TransportError) as error:
            if isinstance(error, HTTPException) and error.status_code != 404:
                raise
            failed = error
        try:
            return self._database.use(lambda client: stored_lines(client, request))
        except HTTPException as error:
            raise failed or error from None

    def nodes(self, request: Request, form: Form = "html") -> Response:
        """Nodes, those with most failures first."""
        search = request.query_params.get("q", "")[:LONGEST_NAME]
        known, age_s = self._nodes.get()
        rows = nodes.matching_nodes(known, search)
        if form == "json":
            return as_json(picked(rows, nodes.COLUMNS))
        if form == "csv":
            return as_csv("nodes", nodes.COLUMNS, _values(rows, nodes.COLUMNS))
        return render(
            request,
            "nodes.html",
            rows=rows,
            actions={name: signature.action for name, signature in self._signatures.items()},
            search=search,
            days=nodes.DAYS,
            minutes=nodes.RECENT_MINUTES,
            age_s=age_s,
        )

    def node(self, request: Request, form: Form = "html") -> Response:
        """One node: its GPUs, findings, failures and actions."""
        name = request.query_params.get("id", "")[:LONGEST_NAME]
        found = nodes.one_node(self._database, name) if name else None
        if found is None:
            raise HTTPException(404, f"Nothing is on record of node {name!r}.")
        if form == "json":
            return as_json(found)
        if form == "csv":
            return as_csv("node", nodes.GPU_COLUMNS, _values(found.gpus, nodes.GPU_COLUMNS))
        signature = self._signatures.get(found.health["cause"])
        return render(
            request,
            "node.html",
            node=found,
            action=signature.action if signature else "",
            days=nodes.DAYS,
            minutes=nodes.RECENT_MINUTES,
            lines=self._read is not None,
        )

    def shadow(self, request: Request, form: Form = "html") -> Response:
        """What decisions in shadow mode would have done."""
        days = min(_number(request, "days") or SHADOW_DAYS, MOST_SHADOW_DAYS)
        judged = judge(self._database.use(lambda client: gather_shadows(client, time.time() - days * 86_400)))
        if form == "html":
            rows = [summary(row) for row in summarise(judged)]
            return render(request, "shadow.html", rows=rows, columns=SUMMARY, explanation=EXPLANATION, days=days)
        decided = [as_row(one) for one in judged]
        if form == "json":
            return as_json(picked(decided, DECISION))
        return as_csv("shadow", DECISION, _values(decided, DECISION))

    def spot(self, request: Request, form: Form = "html") -> Response:
        """Quotas of spot jobs, and the demand that they leave room for."""
        clusters = spot.list_quotas(self._database)
        if form == "json":
            return as_json(clusters)
        if form == "csv":
            return as_csv("spot", spot.COLUMNS, _values(spot.demand_rows(clusters), spot.COLUMNS))
        return render(request, "spot.html", clusters=clusters, days=spot.DAYS, hours=spot.HOURS)

    def decisions(self, request: Request, form: Form = "html") -> Response:
        """Decisions, those that wait for a person first."""
        job = request.query_params.get("job", "")[:LONGEST_NAME]
        rows = list_decisions(self._database, job)
        if form == "json":
            return as_json(picked(rows, (*DECISION_COLUMNS, "waits")))
        if form == "csv":
            return as_csv("decisions", DECISION_COLUMNS, _values(rows, DECISION_COLUMNS))
        notice = NOTICES.get(request.query_params.get("done", ""), "")
        return render(
            request, "decisions.html", rows=rows, job=job, stops=standing_stops(self._database), notice=notice
        )

    def questions(self, request: Request, form: Form = "html") -> Response:
        """All usual questions."""
        known = [(each.name, each.title, each.about) for each in queries().values()]
        if form == "json":
            return as_json([dict(zip(QUESTION_COLUMNS, each, strict=True)) for each in known])
        if form == "csv":
            return as_csv("questions", QUESTION_COLUMNS, known)
        return render(request, "questions.html", questions=queries().values())

    def question(self, request: Request, form: Form = "html") -> Response:
        """The answer to one usual question."""
        name = request.path_params["name"]
        asked = queries().get(name)
        if asked is None:
            raise HTTPException(404, f"There is no question {name!r}.")
        given = {
            each.name: request.query_params[each.name] for each in asked.parameters if each.name in request.query_params
        }
        complete = all(each.name in given or each.default is not None for each in asked.parameters)
        if form == "html" and not complete:
            return render(request, "question.html", question=asked, given=given, answer=None)
        answer = self._database.question(name, given)
        if form == "json":
            return as_json([dict(zip(answer.columns, row, strict=True)) for row in answer.rows])
        if form == "csv":
            return as_csv(name, answer.columns, answer.rows)
        return render(request, "question.html", question=asked, given=given, answer=answer)

    def _as_of_now(self, rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        return self._now.laid_over(rows) if self._now else rows

    def health(self, _: Request) -> Response:
        """`ok` once the database answers."""
        self._database.rows("SELECT 1")
        return PlainTextResponse("ok\n")


def _values(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[list[Any]]:
    return ([row[name] for name in columns] for row in rows)


def _number(request: Request, name: str) -> int | None:
    given: Any = request.query_params.get(name, "")
    if not given:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 11 and int(given) < LARGEST_NUMBER):
        raise HTTPException(400, f"Expected a number as {name}, got {given[:40]!r}.")
    return int(given)
