"""What a line is alone, by its signature."""

import re
from collections.abc import Collection
from enum import Enum

from ..grammar.extractor import read_layout
from ..grammar.prefix import LogPrefix, strip_prefix
from ..grammar.prescan import Prescan
from ..grammar.table import cells, is_header, is_row, part
from . import signatures
from .context import BLANK, ERROR, EXCEPTION, FRAME, INDENTED, OTHER, PROGRESS, TRACEBACK, WARNED, WARNING, header, row
from .progress import is_report


class Ground(Enum):
    """What says the class of a line.

    Attributes:
        SURE: A signature, a level, a shape, or fields of other work: numbers change nothing.
        WORDS: Single words, which lines of another class hold as well.
        ROW: It holds numbers alone; a header above may name them.
        REPORT: What its numbers are called: it is a report of the training.
        NOTHING: No signature; a model at most.
    """

    SURE = "sure"
    WORDS = "words"
    ROW = "row"
    REPORT = "report"
    NOTHING = "nothing"


Likely = Collection[re.Pattern[str]]
"""The expressions that may match a message."""

BY_DIGITS = "?"
"""The class depends on a digit (an exit code), so a template does not settle it."""

_WORDS = 3
"""Words that the name of a column has at most; what has more may be prose with a comma."""
_ERROR = re.compile(r"\bERROR\b(?! ?[=_])")
_TELLING = Prescan(
    (
        signatures.TRACEBACK,
        signatures.FRAME,
        signatures.EXCEPTION,
        signatures.NONFATAL,
        signatures.STRONG,
        signatures.EXIT,
        signatures.WARNED,
        signatures.WEAK,
        signatures.LOUD_WARNING,
        signatures.WARNING,
        _ERROR,
    )
)
"""What a message says of itself where one of these is in it: one scan spares most lines most of them."""
_FAILING = ("ERROR", "CRITICAL", "FATAL", "SEVERE")


def kind_of(line: str) -> tuple[str, Ground]:  # noqa: PLR0911  # a decision list
    """Return the kind of `line` (see `context`) by its text alone, and what that rests on."""
    prefixed = strip_prefix(line)
    body = prefixed.body
    if not body.strip():
        return (WARNING if prefixed.level == "WARNING" else BLANK), Ground.SURE
    likely = _TELLING.likely(body)
    if kind := (_certain(body, likely) if likely else "") or _levelled(prefixed):
        return kind, Ground.SURE
    if signatures.EXIT in likely and signatures.EXIT.search(body):
        return BY_DIGITS, Ground.SURE
    if is_row(inner := part(prefixed)):
        return row(len(cells(inner)) + prefixed.cell), Ground.ROW
    if signatures.WARNED in likely and signatures.WARNED.search(body):
        return (WARNED if signatures.PLACE.search(body) else WARNING), Ground.SURE
    if signatures.PACKAGE.match(line):
        return WARNING, Ground.SURE
    reports = is_report(body, read_layout(body))
    if reports:
        last = _last_word(body)
        return last or PROGRESS, Ground.SURE if last else Ground.REPORT
    if likely and (kind := _worded(prefixed, likely)):
        return kind, Ground.WORDS
    if is_header(inner):
        named = cells(inner)
        short = all(len(name.split()) <= _WORDS for name in named)
        return header(len(named)), Ground.SURE if short else Ground.NOTHING
    return (INDENTED if body[:1].isspace() else OTHER), Ground.SURE if reports is False else Ground.NOTHING


def by_digits(line: str) -> str:
    """Return the class of a line with an exit code."""
    found = signatures.EXIT.search(line)
    return ERROR if found and any(group and int(group) for group in found.groups()) else OTHER


def _certain(body: str, likely: Likely) -> str:
    if signatures.TRACEBACK in likely and signatures.TRACEBACK.search(body):
        return TRACEBACK
    if signatures.FRAME in likely and signatures.FRAME.search(body):
        return FRAME
    if signatures.EXCEPTION in likely and signatures.EXCEPTION.match(body):
        return EXCEPTION
    if signatures.NONFATAL in likely and signatures.NONFATAL.search(body):
        return WARNING
    if signatures.STRONG in likely and signatures.STRONG.search(body) and not signatures.NO_ERROR.search(body):
        return ERROR
    return ""


def _levelled(prefixed: LogPrefix) -> str:
    if prefixed.level in _FAILING:
        return ERROR
    if prefixed.level == "WARNING":
        return WARNING
    return ""


def _last_word(body: str) -> str:
    """Return the class of a report that also tells of the job's end; empty where it tells none."""
    if signatures.KILLED.search(body):
        return ERROR
    return OTHER if ", stopping" in body else ""


def _worded(prefixed: LogPrefix, likely: Likely) -> str:
    """Return the kind that single words tell. They count for less where a logger says that the line is informational."""
    body = prefixed.body
    quiet = prefixed.level in ("INFO", "DEBUG", "TRACE", "NOTICE") or " INFO " in body
    if (
        not quiet
        and signatures.WEAK in likely
        and signatures.WEAK.search(body)
        and not signatures.NO_ERROR.search(body)
    ):
        return WARNING if signatures.WARNING.search(body) else ERROR
    if not quiet and _ERROR in likely and _ERROR.search(body) and not signatures.NO_ERROR.search(body):
        return ERROR
    if signatures.LOUD_WARNING in likely and signatures.LOUD_WARNING.search(body):
        return WARNING
    if not quiet and signatures.WARNING in likely and signatures.WARNING.search(body):
        return WARNING
    return ""
