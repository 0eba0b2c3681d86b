"""Templates of log formats: what is common to all lines of one print statement, on every host and in every job."""

import re
from collections.abc import Sequence
from functools import lru_cache

from ..grammar.extractor import DIGITS, LONGEST, message_of, read_layout
from ..grammar.names import Field, Meaning
from ..grammar.numbers import NUMBER
from ..grammar.prefix import clean
from ..read.series import LineTemplate, Row, SeriesReader, line_template

_PATH = re.compile(r"(?<![\w/])(?:~|\.{1,2})?(?:/[\w.@+{}-]+){2,}/?")
_TELLING = (
    Meaning.STEP,
    Meaning.EPOCH,
    Meaning.LOSS,
    Meaning.STEP_TIME,
    Meaning.TIME,
    Meaning.RATE,
    Meaning.PERIOD,
)


def format_text(template: LineTemplate) -> str:
    """Return the text of `template` that identifies it in a format: paths are masked, since each job has its own."""
    return _PATH.sub("/…", template.text)[:LONGEST]


class TemplateReader:
    """Reads lines into rows of numbers, and names the template of a line."""

    def __init__(self) -> None:
        self._series = SeriesReader()
        self._text = lru_cache(maxsize=4096)(format_text)

    def read(self, line: str, number: int, arrival: float) -> tuple[str, Row] | None:
        """Return the template text and the numbers of `line`; None for a line without numbers or without words."""
        row = self._series.read(line, number, arrival)
        if row is None or row.template.bare:
            return None
        return self._text(row.template), row


def known_fields(line: str) -> dict[int, Field]:
    """Return what the grammar's rules make of the numbers of `line`, by the index of the number."""
    body = message_of(clean(line[:LONGEST]).rstrip()).body
    return {field.index: field for field in read_layout(body).fields}


@lru_cache(maxsize=4096)
def telling_kinds(form: str) -> int:
    """Return how many kinds of numbers of a training report the rules find in a line without digits (`DIGITS`)."""
    found = {field.meaning for field in known_fields(form).values()}
    return len(found.intersection(_TELLING))


def mask_digits(line: str) -> str:
    """Return `line` with every digit masked."""
    return line[:LONGEST].translate(DIGITS)


def number_spans(line: str) -> list[tuple[int, int]]:
    """Return begin and end of the numbers of `line` that are columns, in the cleaned line."""
    template = line_template(clean(line[:LONGEST]).rstrip())
    return list(template.places) if template else []


def surroundings(line: str) -> Sequence[str]:
    """Return the texts around the numbers of `line`, without its prefix: one more than it has numbers."""
    return NUMBER.split(message_of(clean(line[:LONGEST]).rstrip()).body)[::2]


def printed_numbers(line: str) -> Sequence[str]:
    """Return the numbers of `line` as they are printed."""
    return NUMBER.split(message_of(clean(line[:LONGEST]).rstrip()).body)[1::2]
