"""A known format as native extraction: which columns of which templates hold what, ready to be applied to rows of numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schedmate_records import ColumnMeaning, ColumnRole, KnownFormat, Reports, TemplateFormat

from ..grammar.fields import name_before
from ..grammar.names import Field
from ..grammar.numbers import is_duration
from .templates import known_fields, printed_numbers, surroundings
from .units import NONE, PERIODS, RATES, SECONDS, fits


@dataclass(frozen=True, slots=True)
class CompiledColumn:
    """One column of a template.

    Attributes:
        template: Text of the template.
        index: Index of the number in the template.
        role: What it is.
        scale: Factor to seconds, or to one per second; 1 for all other roles.
        counts: What a rate counts (`processors.grammar.units`); empty for all other roles, and for an inverse rate.
        steps: Steps that a step time covers.
        name: Name that is printed before the number; empty without one.
        before: Text before the number.
        after: Text after it.
        is_duration: It is printed as a duration such as `0:01:02`, which is read in seconds.
        rule: What the rules make of the number; None where they do not know it.
    """

    template: str
    index: int
    role: ColumnRole
    scale: float
    counts: str
    steps: int
    name: str
    before: str
    after: str
    is_duration: bool
    rule: Field | None


@dataclass(frozen=True, slots=True)
class CompiledTemplate:
    """One template: what its lines report, and its columns."""

    text: str
    reports: Reports
    columns: tuple[CompiledColumn, ...]


@dataclass(frozen=True)
class CompiledFormat:
    """A format, ready to be applied.

    Attributes:
        record: The format as it was stated.
        templates: Its templates by text.
        contradictions: Claims that contradict each other, for people.
    """

    record: KnownFormat
    templates: Mapping[str, CompiledTemplate]
    contradictions: tuple[str, ...] = ()

    @property
    def columns(self) -> list[CompiledColumn]:
        """Columns of the templates that report the training."""
        return [
            column for each in self.templates.values() if each.reports is Reports.TRAINING for column in each.columns
        ]


def compile_format(record: KnownFormat) -> CompiledFormat:
    """Return `record` as native extraction. A column that contradicts itself is left out; nothing in `record` makes it raise."""
    templates = {each.text: CompiledTemplate(each.text, each.reports, _columns(each)) for each in record.templates}
    return CompiledFormat(record, templates, tuple(_contradictions(record)))


def _contradictions(record: KnownFormat) -> Iterator[str]:
    """Yield the roles that several numbers of one training template claim though only one can have them."""
    for template in record.templates:
        roles = [each.role for each in template.columns if fits(each.role, each.unit)]
        for role in dict.fromkeys(roles):
            if template.reports is Reports.TRAINING and role in _UNIQUE and roles.count(role) > 1:
                yield f"{role}: {roles.count(role)} numbers of one line claim it"


def _columns(template: TemplateFormat) -> tuple[CompiledColumn, ...]:
    """Return the columns of a template. Of a role that only one number can have, none is taken where several claim it."""
    texts, rules = surroundings(template.sample), known_fields(template.sample)
    printed = printed_numbers(template.sample)
    found: dict[int, CompiledColumn] = {}
    for each in template.columns:
        if each.column not in found and fits(each.role, each.unit) and each.role is not ColumnRole.OTHER:
            found[each.column] = _column(template.text, each, texts, rules, printed)
    roles = [each.role for each in found.values()]
    once = [each for each in found.values() if roles.count(each.role) == 1 or each.role not in _UNIQUE]
    return tuple(sorted(once, key=lambda each: each.index))


_UNIQUE = frozenset({
    ColumnRole.STEP, ColumnRole.STEP_TOTAL, ColumnRole.EPOCH_STEP, ColumnRole.EPOCH_STEP_TOTAL, ColumnRole.EPOCH, ColumnRole.EPOCH_TOTAL,
    ColumnRole.LOSS, ColumnRole.STEP_TIME, ColumnRole.REPORT_TIME, ColumnRole.ELAPSED, ColumnRole.LEARNING_RATE,
})  # fmt: skip
"""Roles that one number of a line has at most; a line may state several rates."""


def _column(
    text: str, meaning: ColumnMeaning, texts: Sequence[str], rules: Mapping[int, Field], printed: Sequence[str]
) -> CompiledColumn:
    unit, index = meaning.unit, meaning.column
    counts, scale = RATES.get(unit, ("", 1.0))
    if unit != NONE and not counts:
        scale = SECONDS.get(unit) or PERIODS[unit]
    before = texts[index] if index < len(texts) else ""
    after = texts[index + 1] if index + 1 < len(texts) else ""
    duration = index < len(printed) and is_duration(printed[index])
    name = name_before(before)
    return CompiledColumn(
        text, index, meaning.role, scale, counts, meaning.steps, name, before, after, duration, rules.get(index)
    )
