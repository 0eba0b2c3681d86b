"""The page on which an operator states what the lines of a job's log mean, as `schedmate formats teach` does in a terminal."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from processors.formats.answer import ColumnAnswer, FormatAnswer, read_answer, to_record
from processors.formats.layout import numbered_columns
from processors.formats.question import format_prompt
from processors.formats.units import NONE, UNITS, fits
from processors.prompts.schema import problem
from processors.settings import ProcessorSettings
from schedmate_records import ColumnRole, FormatQuestion, KnownFormat, LogChunk, Reports
from sinks.clickhouse.incarnations import find_job
from streams.transport import TransportError

from ..formats.stored import formats_in
from ..formats.taught_log import first_answer, known_format, read_chunks_with, survey_chunks
from ..formats.teaching import TEMPLATES
from ..formats.words import meaning_in_words, numbers_in_words
from ..report.report import Row, parts
from .access import Visitor
from .acts import operators_form
from .database import Database
from .job_lines import ReadNewest, newest_chunks
from .render import render

Teach = Callable[[KnownFormat], None]
"""Stores a format, and returns once Kafka has it. Raises `TransportError`."""


@dataclass(frozen=True)
class Column:
    """A number of a template's sample line: its number in the question, its text and what an answer states about it."""

    number: int
    text: str
    role: str
    unit: str
    steps: int
    meaning: str


@dataclass(frozen=True)
class Template:
    """A template: its number in the question, how many lines it has, samples, what the lines report, and its numbers."""

    number: int
    count: int
    lines: Sequence[str]
    reports: str
    columns: Sequence[Column]


@dataclass
class Kept:
    """Questions that were shown, by the key that their forms carry."""

    found: OrderedDict[str, tuple[str, FormatQuestion, Sequence[LogChunk]]] = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)

    def add(self, job: str, question: FormatQuestion, chunks: Sequence[LogChunk]) -> str:
        """Keep a question about `job`; return its key."""
        key = secrets.token_urlsafe(16)
        with self.lock:
            self.found[key] = job, question, chunks
            # The lines of a question take up to a megabyte.
            while len(self.found) > 16:
                self.found.popitem(last=False)
        return key

    def get(self, key: str) -> tuple[str, FormatQuestion, Sequence[LogChunk]]:
        """Return the job, the question and its lines. Raises `HTTPException` where they are not kept any more."""
        with self.lock:
            if key not in self.found:
                raise HTTPException(409, "This form is too old: load the page of the job's format again.")
            return self.found[key]


class Formats:
    """The view of a job's format, and its form's other end.

    Args:
        database: Where stored lines and known formats are.
        read: Reads the newest lines of a job from Kafka; None where there is no Kafka.
        teach: Stores a format; None where the page is read-only.
    """

    def __init__(self, database: Database, read: ReadNewest | None, teach: Teach | None) -> None:
        self._database = database
        self._read = read
        self._teach = teach
        self._settings = ProcessorSettings()
        self._kept = Kept()

    def view(self, request: Request) -> Response:
        """Show the templates of a job's log, and what each number means as far as it is known."""
        name = request.query_params.get("id", "")
        if request.query_params.get("done"):
            return render(request, "format.html", job=name, done=True, templates=[])
        found = self._database.use(lambda client: find_job(client, name))
        chunks = newest_chunks(self._database, self._read, found)
        if not chunks:
            raise HTTPException(404, f"No line of job {name!r} is on record: use `schedmate formats teach LOG`.")
        asked = survey_chunks(Path(found.job), chunks, self._settings)
        if asked is None or asked.format is None:
            raise HTTPException(404, f"Job {name!r} repeats no line with numbers yet.")
        known = known_format(asked.format, self._database.use(formats_in))
        answer = first_answer(asked.format, known)
        key = self._kept.add(name, asked.format, chunks)
        return self._show(request, key, answer, author=known.author or "a model" if known else "")

    async def save(self, request: Request) -> Response:
        """Show what the format of a form reads, or store it. Raises `HTTPException` with the reason where it is refused."""
        if self._teach is None:
            raise HTTPException(403, "This page is read-only.")
        # Three fields for each of the 120 columns that a question has, and some more.
        form = await operators_form(request, 400)
        visitor: Visitor = request.state.visitor
        return await run_in_threadpool(self._carry, request, form, visitor.name)

    def _carry(self, request: Request, form: Mapping[str, str], user: str) -> Response:
        key = form.get("question", "")
        job, question, chunks = self._kept.get(key)
        answer, wrong = _answer(form, question)
        record = to_record(answer, question, author=user, time=time.time(), person=True)
        if wrong or form.get("do") != "save" or self._teach is None:
            analysis = read_chunks_with(Path(job), chunks, self._settings, record)
            reads = [
                f"{each.name}: {each.text}"
                for each in parts(analysis)
                if isinstance(each, Row) and each.name in ("progress", "speed")
            ]
            contradicted = analysis.format_reading.contradictions if analysis.format_reading else []
            return self._show(request, key, answer, reads=reads, wrong=[*wrong, *contradicted])
        try:
            self._teach(record)
        except TransportError as error:
            raise HTTPException(503, f"Kafka did not accept it, so nothing changed: {error}") from error
        return RedirectResponse(request.url.include_query_params(id=job, done=1), 303)

    def _show(
        self,
        request: Request,
        key: str,
        answer: FormatAnswer,
        *,
        author: str = "",
        reads: Sequence[str] = (),
        wrong: Sequence[str] = (),
    ) -> Response:
        job, question, _ = self._kept.get(key)
        return render(
            request,
            "format.html",
            job=job,
            done=False,
            key=key,
            training="yes" if answer.training else "no",
            templates=_templates(question, answer),
            author=author,
            reads=reads,
            wrong=wrong,
            may_act=self._teach is not None,
            kinds=list(Reports),
            roles=list(ColumnRole),
            units=UNITS,
        )


def _templates(question: FormatQuestion, answer: FormatAnswer) -> list[Template]:
    """Return the templates that a person is asked about, with their numbers."""
    meanings = {each.column: each for each in answer.columns}
    columns: dict[int, list[Column]] = {}
    for number, place in enumerate(numbered_columns(question), start=1):
        text = numbers_in_words(question.templates[place.template - 1].lines[-1])[place.index]
        each = meanings.get(number)
        known = (each.role, each.unit, each.steps, meaning_in_words(each)) if each else (ColumnRole.OTHER, NONE, 1, "-")
        columns.setdefault(place.template, []).append(Column(number, text, *known))
    return [
        Template(
            number,
            template.count,
            template.lines,
            answer.templates.get(number, Reports.NEITHER),
            columns.get(number, []),
        )
        for number, template in enumerate(question.templates[:TEMPLATES], start=1)
    ]


def _answer(form: Mapping[str, str], question: FormatQuestion) -> tuple[FormatAnswer, list[str]]:
    """Return the answer that a form holds, and what is wrong with it. Raises `HTTPException` where it is no answer to `question`.

    Columns with a wrong unit are part of the answer, so that a person corrects the unit alone.
    """
    wrong: dict[int, str] = {}
    columns: list[dict[str, Any]] = []
    for each in (each for template in _templates(question, first_answer(question, None)) for each in template.columns):
        role, unit = form.get(f"role-{each.number}", ""), form.get(f"unit-{each.number}", "")
        if role in ("", ColumnRole.OTHER):
            continue
        possible = [known for known in UNITS if role in set(ColumnRole) and fits(ColumnRole(role), known)]
        if possible == [NONE]:
            unit = NONE
        elif possible and unit not in possible:
            expected = f"expected one of {', '.join(possible)} as unit of {role}, got {unit or NONE}"
            wrong[each.number] = f"{each.text}: {expected}"
        steps = form.get(f"steps-{each.number}", "1")
        covered = int(steps) if steps.isascii() and steps.isdecimal() and len(steps) < 10 else -1
        columns.append({"column": each.number, "role": role, "unit": unit, "steps": covered})
    content = {
        "training": form.get("training", ""),
        "templates": [
            {"template": number, "reports": form.get(f"reports-{number}", "")}
            for number in range(1, min(len(question.templates), TEMPLATES) + 1)
        ],
        "columns": columns,
    }
    found = problem(content, format_prompt(question).schema)
    answer = read_answer(content)
    if found or answer is None:
        raise HTTPException(400, f"Expected the page's own form: {found}")
    misfits = [
        ColumnAnswer(each["column"], ColumnRole(each["role"]), each["unit"], each["steps"])
        for each in columns
        if each["column"] in wrong
    ]
    return replace(answer, columns=[*answer.columns, *misfits]), list(wrong.values())
