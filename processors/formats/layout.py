"""The numbers of the columns in a question: counted over all templates, so that an answer names a column by one number."""

from dataclasses import dataclass

from schedmate_records import FormatQuestion

from .survey import MAX_NUMBERS
from .templates import number_spans

MAX_COLUMNS = 120
"""Columns of a question. Templates of the lowest weight have none beyond it."""


@dataclass(frozen=True, slots=True)
class ColumnPlace:
    """A column of a question.

    Attributes:
        template: Number of its template, from 1.
        index: Index of the number in the template, from 0.
    """

    template: int
    index: int


def numbered_columns(question: FormatQuestion) -> list[ColumnPlace]:
    """Return the columns of `question`; the first one has the number 1."""
    found: list[ColumnPlace] = []
    for number, template in enumerate(question.templates, start=1):
        count = len(number_spans(template.lines[0])) if template.lines else 0
        if count <= MAX_NUMBERS and len(found) + count <= MAX_COLUMNS:
            found += [ColumnPlace(number, index) for index in range(count)]
    return found
