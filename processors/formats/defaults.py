"""Answers to a question about a format that are known before anybody is asked: the rules' own, and a known format's."""

import re

from schedmate_records import ColumnRole, FormatQuestion, KnownFormat, Reports

from ..grammar import names
from ..grammar.names import Field, Meaning
from ..grammar.units import SAMPLES, STEPS, TOKENS
from .answer import ColumnAnswer, FormatAnswer
from .layout import numbered_columns
from .templates import known_fields
from .units import NONE, RATES, SECONDS

_PLAIN = {
    Meaning.STEP: ColumnRole.STEP,
    Meaning.EPOCH: ColumnRole.EPOCH,
    Meaning.LOSS: ColumnRole.LOSS,
    Meaning.STEP_TIME: ColumnRole.STEP_TIME,
    Meaning.TIME: ColumnRole.STEP_TIME,
    Meaning.RATE: ColumnRole.RATE,
    Meaning.CLOCK: ColumnRole.ELAPSED,
}
_TRAINING_LOSS = re.compile(r"(?i)train\w*[ _/.:-]*loss|loss[ _/.:-]*train")
"""The loss of a training, which may be followed by that of the evaluation before it."""
_UNIQUE = (ColumnRole.STEP, ColumnRole.EPOCH, ColumnRole.LOSS, ColumnRole.STEP_TIME, ColumnRole.ELAPSED)


def rules_answer(question: FormatQuestion) -> FormatAnswer:
    """Return what the rules make of the templates of `question`."""
    fields = [known_fields(each.lines[0]) if each.lines else {} for each in question.templates]
    templates = {
        number: _reports(question.templates[number - 1].text, fields[number - 1])
        for number in range(1, len(question.templates) + 1)
    }
    columns: dict[int, ColumnAnswer] = {}
    for column, place in enumerate(numbered_columns(question), start=1):
        field = fields[place.template - 1].get(place.index)
        answer = _column(column, field, fields[place.template - 1]) if field is not None else None
        if answer is None or templates[place.template] is not Reports.TRAINING:
            continue
        taken = any(
            each.role is answer.role and numbered_columns(question)[each.column - 1].template == place.template
            for each in columns.values()
        )
        if not (taken and answer.role in _UNIQUE):
            columns[column] = answer
    return FormatAnswer(Reports.TRAINING in templates.values(), templates, list(columns.values()))


def known_answer(known: KnownFormat, question: FormatQuestion) -> FormatAnswer:
    """Return what `known` states about the templates of `question`; the rules' answer for templates that it does not hold."""
    rules, held = rules_answer(question), {each.text: each for each in known.templates}
    templates = {
        number: held[each.text].reports if each.text in held else rules.templates[number]
        for number, each in enumerate(question.templates, start=1)
    }
    defaults = {each.column: each for each in rules.columns}
    columns: list[ColumnAnswer] = []
    for column, place in enumerate(numbered_columns(question), start=1):
        template = held.get(question.templates[place.template - 1].text)
        if template is None:
            columns += [defaults[column]] if column in defaults else []
        else:
            columns += [
                ColumnAnswer(column, each.role, each.unit, each.steps)
                for each in template.columns
                if each.column == place.index
            ]
    return FormatAnswer(known.training, templates, columns)


def _reports(text: str, fields: dict[int, Field]) -> Reports:
    meanings = {field.meaning for field in fields.values()}
    counted = bool(meanings & {Meaning.STEP, Meaning.EPOCH})
    if not counted or not meanings & {Meaning.LOSS, Meaning.STEP_TIME, Meaning.RATE, Meaning.TIME}:
        return Reports.NEITHER
    return Reports.EVALUATION if names.evaluation(text) and not _TRAINING_LOSS.search(text) else Reports.TRAINING


def _column(number: int, field: Field, fields: dict[int, Field]) -> ColumnAnswer | None:
    if field.meaning is Meaning.TOTAL:
        before = fields.get(field.index - 1)
        of_epoch = before is not None and before.meaning is Meaning.EPOCH
        return ColumnAnswer(number, ColumnRole.EPOCH_TOTAL if of_epoch else ColumnRole.STEP_TOTAL, NONE, 1)
    if field.meaning is Meaning.COUNT:
        return ColumnAnswer(number, ColumnRole.TOKENS if field.unit == TOKENS else ColumnRole.SAMPLES, NONE, 1)
    role = _PLAIN.get(field.meaning)
    if role is None:
        return None
    if role is ColumnRole.RATE:
        return ColumnAnswer(number, role, _rate_unit(field), 1)
    timed = role in (ColumnRole.STEP_TIME, ColumnRole.ELAPSED)
    unit = next((name for name, scale in SECONDS.items() if scale == field.scale), "s") if timed else NONE
    return ColumnAnswer(number, role, unit, 1)


def _rate_unit(field: Field) -> str:
    kind = field.unit if field.unit in (STEPS, SAMPLES, TOKENS) else SAMPLES
    return next(
        (name for name, (counts, scale) in RATES.items() if counts == kind and scale == field.scale), "samples/s"
    )
