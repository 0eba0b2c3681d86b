"""The closed answer about a format: read from JSON of any quality, and turned into the record that is stored and applied."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from schedmate_records import ColumnMeaning, ColumnRole, FormatQuestion, KnownFormat, Reports, TemplateFormat

from ..prompts import Schema
from ..prompts.schema import between, closed, one_of, several
from .layout import numbered_columns
from .units import UNITS, fits

_MOST_STEPS = 1_000_000_000
"""Largest number of steps that a time may cover."""


@dataclass(frozen=True, slots=True)
class ColumnAnswer:
    """Answer about a column, by the column's number in the question."""

    column: int
    role: ColumnRole
    unit: str
    steps: int


@dataclass(frozen=True, slots=True)
class FormatAnswer:
    """An answer. It refers to templates and columns by their numbers in the question.

    Attributes:
        training: Whether the log reports a training.
        templates: What the lines of each template report, by the template's number.
        columns: Meanings of columns.
    """

    training: bool
    templates: Mapping[int, Reports]
    columns: Sequence[ColumnAnswer]


def schema(templates: int, columns: int) -> Schema:
    """Return the JSON schema of an answer to a question with so many templates and columns."""
    template = closed({"template": between(1, templates), "reports": one_of(list(Reports))})
    column = closed({
        "column": between(1, max(columns, 1)),
        "role": one_of(list(ColumnRole)),
        "unit": one_of(UNITS),
        "steps": between(0, _MOST_STEPS),
    })  # fmt: skip
    return closed({
        "training": one_of(("yes", "no")),
        "templates": several(template, templates),
        "columns": several(column, columns),
    })  # fmt: skip


def read_answer(content: Any) -> FormatAnswer | None:
    """Return the answer that `content` holds; None for anything that is no answer. Parts that make no sense are left out."""
    training = content.get("training") if isinstance(content, Mapping) else None
    if not isinstance(training, str) or training not in {"yes", "no"}:
        return None
    templates: dict[int, Reports] = {}
    for each in _objects(content.get("templates")):
        number, reports = each.get("template"), _member(Reports, each.get("reports"))
        if _is_number(number) and isinstance(reports, Reports):
            templates.setdefault(number, reports)
    columns: dict[int, ColumnAnswer] = {}
    for each in _objects(content.get("columns")):
        number, role = each.get("column"), _member(ColumnRole, each.get("role"))
        unit, steps = each.get("unit"), each.get("steps")
        if not _is_number(number) or not isinstance(role, ColumnRole) or not isinstance(unit, str):
            continue
        covered = steps if _is_number(steps) and 0 <= steps <= _MOST_STEPS else 1
        if fits(role, unit):
            columns.setdefault(number, _column(number, role, unit, covered))
    return FormatAnswer(training == "yes", templates, list(columns.values()))


def _column(number: int, role: ColumnRole, unit: str, steps: int) -> ColumnAnswer:
    """Return the answer about a column. A step time that covers 0 steps is the time since the report before."""
    if role is ColumnRole.STEP_TIME and steps == 0:
        role = ColumnRole.REPORT_TIME
    return ColumnAnswer(number, role, unit, max(steps, 1))


def to_record(
    answer: FormatAnswer,
    question: FormatQuestion,
    *,
    author: str,
    time: float,
    prompt: str = "",
    person: bool = False,
) -> KnownFormat:
    """Return the record of `answer`. Numbers of templates and columns that the question did not show are left out."""
    shown = numbered_columns(question)
    meanings = {each.column: each for each in answer.columns}
    templates = []
    for number, template in enumerate(question.templates, start=1):
        columns = [
            ColumnMeaning(place.index, meaning.role, meaning.unit, meaning.steps)
            for column, place in enumerate(shown, start=1)
            if place.template == number
            and (meaning := meanings.get(column)) is not None
            and meaning.role is not ColumnRole.OTHER
        ]
        reports = answer.templates.get(number, Reports.NEITHER) if answer.training else Reports.NEITHER
        sample = template.lines[0] if template.lines else ""
        templates.append(TemplateFormat(template.text, reports, columns, sample))
    return KnownFormat(
        id=f"format/{question.fingerprint}/{author}/{time:.3f}",
        fingerprint=question.fingerprint,
        time=time,
        author=author,
        person=person,
        prompt=prompt,
        training=answer.training,
        templates=templates,
    )


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _member(kind: type[Reports] | type[ColumnRole], value: Any) -> Reports | ColumnRole | None:
    return kind(value) if isinstance(value, str) and value in {each.value for each in kind} else None
