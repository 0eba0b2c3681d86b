"""Class of a single line, by its signature."""

import re
from collections.abc import Collection
from enum import Enum

from ..grammar.extractor import read_layout
from ..grammar.prefix import LogPrefix, strip_prefix
from ..grammar.prescan import Prescan
from ..grammar.table import cells, is_header, is_row, part
from .context import BLANK, ERROR, EXCEPTION, FRAME, INDENTED, OTHER, PROGRESS, TRACEBACK, WARNED, WARNING, header, row
from .progress import is_report
from .signatures import SIGNATURES


class Ground(Enum):
    """Evidence that decides the class of a line.

    Attributes:
        SURE: A signature, a level, a shape, or fields of other work: numbers change nothing.
        WORDS: Single words, which lines of other classes hold as well.
        ROW: It holds numbers alone; a header above may name them.
        REPORT: The names of its numbers: it is a report of the training.
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
"""The class depends on a digit (an exit code), so a template does not decide it."""
_COLUMN_WORDS = 3
"""Maximum number of words in the name of a column; longer ones may be prose with a comma."""
_LEVELS = {**dict.fromkeys(("ERROR", "CRITICAL", "FATAL", "SEVERE"), ERROR), "WARNING": WARNING}
_SCANNED = (
    "traceback", "frame", "exception", "nonfatal", "strong_error", "exit_code", "python_warning", "weak_error", "loud_warning", "warning",
)  # fmt: skip
_PRESCAN = Prescan(tuple(SIGNATURES[name] for name in _SCANNED))
"""One scan spares most lines most of these."""


def kind_of(line: str) -> tuple[str, Ground]:  # noqa: C901, PLR0911  # a decision list
    """Return the kind of `line` (see `context`) by its text alone, and what that rests on."""
    prefixed = strip_prefix(line)
    body = prefixed.body
    if not body.strip():
        return (WARNING if prefixed.level == "WARNING" else BLANK), Ground.SURE
    likely = _PRESCAN.likely(body)
    if kind := (_certain_kind(body, likely) if likely else "") or _LEVELS.get(prefixed.level, ""):
        return kind, Ground.SURE
    if _has("exit_code", body, likely):
        return BY_DIGITS, Ground.SURE
    if is_row(inner := part(prefixed)):
        return row(len(cells(inner)) + prefixed.cell), Ground.ROW
    if _has("python_warning", body, likely):
        return (WARNED if SIGNATURES["warning_place"].search(body) else WARNING), Ground.SURE
    if SIGNATURES["package_warning"].match(line):
        return WARNING, Ground.SURE
    reports = is_report(body, read_layout(body))
    if reports and (SIGNATURES["killed"].search(body) or ", stopping" in body):
        return (OTHER if ", stopping" in body else ERROR), Ground.SURE
    if reports:
        return PROGRESS, Ground.REPORT
    if likely and (kind := _kind_by_words(prefixed, likely)):
        return kind, Ground.WORDS
    if is_header(inner):
        named = cells(inner)
        short = all(len(name.split()) <= _COLUMN_WORDS for name in named)
        return header(len(named)), Ground.SURE if short else Ground.NOTHING
    return (INDENTED if body[:1].isspace() else OTHER), Ground.SURE if reports is False else Ground.NOTHING


def class_by_digits(line: str) -> str:
    """Return the class of a line with an exit code."""
    found = SIGNATURES["exit_code"].search(line)
    return ERROR if found and any(group and int(group) for group in found.groups()) else OTHER


def _has(name: str, body: str, likely: Likely) -> bool:
    return SIGNATURES[name] in likely and SIGNATURES[name].search(body) is not None


def _certain_kind(body: str, likely: Likely) -> str:
    if _has("traceback", body, likely):
        return TRACEBACK
    if _has("frame", body, likely):
        return FRAME
    if SIGNATURES["exception"] in likely and SIGNATURES["exception"].match(body):
        return EXCEPTION
    if _has("nonfatal", body, likely):
        return WARNING
    return ERROR if _has("strong_error", body, likely) and not SIGNATURES["no_error"].search(body) else ""


def _kind_by_words(prefixed: LogPrefix, likely: Likely) -> str:
    """Return the kind by single words, of which few count in a line of a mild level; empty where they decide nothing."""
    body = prefixed.body
    mild = prefixed.level in ("INFO", "DEBUG", "TRACE", "NOTICE") or " INFO " in body
    if not mild and _has("weak_error", body, likely) and not SIGNATURES["no_error"].search(body):
        return WARNING if SIGNATURES["warning"].search(body) else ERROR
    warns = _has("loud_warning", body, likely) or (not mild and _has("warning", body, likely))
    return WARNING if warns else ""
