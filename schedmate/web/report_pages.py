"""The views of reports: goodput, the shadow report, spot quotas and the usual questions."""

import time
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sinks.clickhouse.queries import queries

from ..goodput import is_month, months_around, read_month, this_month
from ..shadow.facts import gather as gather_shadows
from ..shadow.report import DECISION, EXPLANATION, SUMMARY, as_row, judge, summarise, summary
from . import spot
from .database import Database
from .parameters import read_number, row_values
from .render import render
from .twins import Form, as_csv, as_json, picked

QUESTION_COLUMNS: Final = ("name", "title", "about")


class ReportPages:
    """The views of one database.

    Args:
        database: Where everything is read from.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def shadow(self, request: Request, form: Form = "html") -> Response:
        """Comparison of decisions in shadow mode with actual outcomes."""
        days = min(read_number(request, "days") or 7, 366)
        judged = judge(self._database.use(lambda client: gather_shadows(client, time.time() - days * 86_400)))
        if form == "html":
            rows = [summary(row) for row in summarise(judged)]
            return render(request, "shadow.html", rows=rows, columns=SUMMARY, explanation=EXPLANATION, days=days)
        decided = [as_row(one) for one in judged]
        if form == "json":
            return as_json(picked(decided, DECISION))
        return as_csv("shadow", DECISION, row_values(decided, DECISION))

    def spot(self, request: Request, form: Form = "html") -> Response:
        """Quotas of spot jobs, and the demand that they leave room for."""
        clusters = spot.list_quotas(self._database)
        if form == "json":
            return as_json(clusters)
        if form == "csv":
            return as_csv("spot", spot.COLUMNS, row_values(spot.demand_rows(clusters), spot.COLUMNS))
        return render(request, "spot.html", clusters=clusters, days=spot.DAYS, hours=spot.HOURS)

    def goodput(self, request: Request, form: Form = "html") -> Response:
        """The report of a month, the present one by default."""
        month = request.query_params.get("month", "") or this_month()
        if not is_month(month):
            raise HTTPException(400, f"Expected a month as {this_month()}, got {month[:40]!r}.")
        report = self._database.use(lambda client: read_month(client, month, 50))
        if form == "json":
            return as_json(report)
        if form == "csv":
            rows = [{"by": by, **row} for by, known in report.groups.items() for row in known]
            return as_csv("goodput", tuple(rows[0]) if rows else ("by",), [tuple(row.values()) for row in rows])
        return render(
            request,
            "goodput.html",
            report=report,
            months=[each for each in months_around(month) if each <= this_month()],
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
            raise HTTPException(404, f"There is no query {name!r}.")
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
