"""The views: each reads a link's parameters, asks the database, and answers as a page or as its twin."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

from clickhouse_connect.driver.client import Client
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from processors.diagnose import Signature
from schedmate_records import JobReference
from sinks.clickhouse.incarnations import find_job
from sinks.clickhouse.lines import Selection
from streams.transport import TransportError

from ..advice import advice_on_alarm
from ..explain.facts import JobFacts, facts_of
from ..explain.page import sections
from ..explain.records import JobRecords, read_records
from ..goodput import MonthReport
from ..log_link import log_link
from ..report_card import ReportCard, card_of
from . import jobs, line_search, nodes
from .cluster import DAYS, RECENT_MINUTES, Overview, cluster
from .compare import Run, charts
from .database import Database
from .decisions import COLUMNS as DECISION_COLUMNS
from .decisions import list_decisions, standing_stops
from .estimate import expected, read_estimate
from .lines import Excerpt, ReadSpan, asked_lines
from .now import Now, lay_over, newer_estimate
from .one_job import earlier_attempt, one_job
from .parameters import read_number, row_values
from .plot import draw, plot_data
from .ranks import rank_map
from .refreshed import Refreshed
from .render import render
from .reports import read_reports
from .start import read_start, starts
from .stored_lines import stored_lines
from .timeline import timeline
from .twins import Form, as_csv, as_json, picked

LONGEST_NAME: Final = 1024  # characters of a job, node or user in a link
NOTICES: Final = {
    "approve": "Approved. The bridge checks the guardrails again, and then acts.",
    "reject": "Rejected. No action will be taken.",
    "stop": "Stopped. No bridge begins an action until the stop is lifted.",
    "resume": "Lifted. Waiting decisions that have not expired are examined again.",
}
"""Notices to an operator once Kafka has the record, before the database shows it."""

View = Callable[..., Response]
"""Takes a request, and the form of the answer."""


class Pages:
    """The views of one database.

    Args:
        database: Where everything is read from.
        overview: What stays the same for every visitor for a while.
        known_nodes: The list of nodes, likewise.
        goodput: The report of the present month, likewise.
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
        goodput: Refreshed[MonthReport],
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
        self._goodput = goodput
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
            return as_csv("cluster", jobs.COLUMNS, row_values(self._as_of_now(trouble), jobs.COLUMNS))
        return render(
            request,
            "cluster.html",
            cluster=known,
            days=DAYS,
            minutes=RECENT_MINUTES,
            age_s=age_s,
            goodput=self._goodput.peek(),
            lines=self._shows_lines(),
        )

    def jobs(self, request: Request, form: Form = "html") -> Response:
        """Jobs: searched, filtered, sorted, page by page."""
        wanted = jobs.Filter.read(request.query_params)
        overview, age_s = self._overview.get()
        found = jobs.list_jobs(self._database, overview.jobs, wanted, jobs.PAGE if form == "html" else jobs.EXPORTED)
        found = replace(found, rows=self._as_of_now(found.rows))
        if form == "json":
            return as_json({"found": found.found, "jobs": picked(found.rows, jobs.COLUMNS)})
        if form == "csv":
            return as_csv("jobs", jobs.COLUMNS, row_values(found.rows, jobs.COLUMNS))

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
            lines=self._shows_lines(),
        )

    def job(self, request: Request, form: Form = "html") -> Response:
        """One job: its curves, verdict and decisions."""
        name, attempt = request.query_params.get("id", "")[:LONGEST_NAME], read_number(request, "attempt")
        if not name:
            raise HTTPException(404, "Expected the id of a job.")
        records = self._database.use(lambda client: read_records(client, name))
        facts = self._database.use(lambda client: facts_of(client, records, attempt))
        found = records.found
        reports = read_reports(self._database, found)
        row = one_job(self._database, records, reports)
        if facts is None and row is None:
            raise HTTPException(404, f"No record of job {name!r}.")
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
        newest = attempt if row is None or attempt is not None else row["attempt"]
        card = self._database.use(lambda client: _card(client, records, facts, newest))
        stored = self._database.use(lambda client: line_search.has_lines(client, found))
        parts = list(sections(facts, self._signatures)) if facts else []
        now = time.time()
        current = facts is not None and (row is None or attempt is not None or facts.attempt == row["attempt"])
        # A link to an earlier attempt shows the state of that one.
        shown = (
            jobs.state_fields(facts.state) | {"alarms": []}
            if row and facts and attempt not in (None, row["attempt"])
            else row
        )
        runs = row is not None and row["condition"] in jobs.RUNNING and attempt in (None, row["attempt"])
        marks, plot = known.marks[::-1], draw(known, now if runs else None)
        return render(
            request, "job.html",
            name=name, job=found.job, card=card, others=found.others, row=row, estimate=estimate,
            state=jobs.sentence(shown, now) if shown else "", shown=shown, is_newest=shown is row,
            progress=earlier_attempt(records, facts.attempt) if facts and shown is not row else row,
            alarm_advice=advice_on_alarm(next(iter(shown["expressed"]), "")) if shown and not (facts and facts.verdict and current) else "",
            expected=expected(estimate) if estimate else None, start=starts(start) if start else "",
            parts_of=parts, timeline=known, marks=marks, plot=plot, curves=plot_data(known, plot) if plot else "", facts=facts,
            waiting=[each for each in list_decisions(self._database, found.job) if each["waits"]], verdict=facts.verdict if facts else None,
            current=current,
            attempts=sorted({mark.attempt for mark in marks}), ranks=rank_map(self._database, found.job, reports),
            lines=self._read is not None or stored, stored=stored, any_stored=stored or self._database.use(line_search.has_lines),
            log_link=log_link(self._log_link, name, facts.verdict if facts else None) if self._log_link else "",
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
        drawn = list(charts(runs)) if runs else []
        return render(request, "compare.html", names=names, runs=runs, charts=drawn, lines=self._shows_lines())

    def _run(self, name: str) -> Run:
        records = self._database.use(lambda client: read_records(client, name))
        reports = read_reports(self._database, records.found)
        row = one_job(self._database, records, reports)
        if row is None:
            raise HTTPException(404, f"No record of job {name!r}.")
        known = timeline(self._database, records, reports, row["nodes"])
        return Run(row, jobs.sentence(row, time.time()), known)

    def log(self, request: Request, form: Form = "html") -> Response:
        """The stored lines of a job that match."""
        name, given = request.query_params.get("id", "")[:LONGEST_NAME], request.query_params
        if not name:
            raise HTTPException(404, "Expected the id of a job.")
        wanted = Selection(read_number(request, "attempt"), read_number(request, "rank"), given.get("grep", ""))
        size = line_search.SHOWN if form == "html" else line_search.EXPORTED
        found = self._database.use(
            lambda client: line_search.search_lines(
                client, find_job(client, name), wanted, given.get("after", ""), size
            )
        )
        if form == "html":
            link = log_link(self._log_link, name) if self._log_link else ""
            return render(
                request, "log.html", 400 if found.problem else 200, name=name, search=found, log_link=link,
                further="after" in given, next_link=f"/log?{urlencode({**given, 'after': found.after})}",
            )  # fmt: skip
        if found.problem:
            raise HTTPException(400, found.problem)
        if form == "json":
            return as_json(picked(found.rows, line_search.COLUMNS))
        return as_csv("log", line_search.COLUMNS, row_values(found.rows, line_search.COLUMNS))

    def _shows_lines(self) -> bool:
        """Return whether the lines around a quoted one can be shown."""
        return self._read is not None or self._database.use(line_search.has_lines)

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
            return as_csv("nodes", nodes.COLUMNS, row_values(rows, nodes.COLUMNS))
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
            raise HTTPException(404, f"No record of node {name!r}.")
        if form == "json":
            return as_json(found)
        if form == "csv":
            return as_csv("node", nodes.GPU_COLUMNS, row_values(found.gpus, nodes.GPU_COLUMNS))
        signature = self._signatures.get(found.health["cause"])
        return render(
            request,
            "node.html",
            node=found,
            action=signature.action if signature else "",
            days=nodes.DAYS,
            minutes=nodes.RECENT_MINUTES,
            lines=self._shows_lines(),
        )

    def decisions(self, request: Request, form: Form = "html") -> Response:
        """Decisions, those that wait for a person first."""
        job = request.query_params.get("job", "")[:LONGEST_NAME]
        rows = list_decisions(self._database, job)
        if form == "json":
            return as_json(picked(rows, (*DECISION_COLUMNS, "waits")))
        if form == "csv":
            return as_csv("decisions", DECISION_COLUMNS, row_values(rows, DECISION_COLUMNS))
        notice = NOTICES.get(request.query_params.get("done", ""), "")
        return render(
            request, "decisions.html", rows=rows, job=job, stops=standing_stops(self._database), notice=notice
        )

    def _as_of_now(self, rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        return self._now.laid_over(rows) if self._now else rows

    def health(self, _: Request) -> Response:
        """`ok` once the database answers."""
        self._database.rows("SELECT 1")
        return PlainTextResponse("ok\n")


def _card(client: Client, records: JobRecords, facts: JobFacts | None, attempt: int | None) -> ReportCard | None:
    """Return the report card of `attempt`; None where it has not started. `facts` may be those of another attempt."""
    if facts is None or attempt not in (None, facts.attempt):
        facts = facts_of(client, records, attempt)
    return card_of(client, records, facts) if facts and facts.ran else None
