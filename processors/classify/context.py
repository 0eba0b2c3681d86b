"""State of a stream between lines: an open traceback, a warning whose source line comes next, the width of a table.

Some lines mean nothing alone: the source line that Python prints under a warning, the frames of a traceback, a row of bare numbers.
A line's *kind* is what it is alone; `resolve` turns kinds into classes, in order, with the context. So the result does not depend on how
lines are cut into chunks.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from ..grammar.prefix import strip_prefix


class ObservedTemplate(msgspec.Struct, array_like=True):
    """A template whose numbers are observed.

    Attributes:
        text: A line of it, digits masked.
        key: Checksum of what its lines have in common.
        rows: Its first numbers; null for text that is no number.
        places: Line of each row, without rules and blank lines.
        count: Number of lines.
    """

    text: str
    key: int
    rows: list[list[float | None]] = []
    places: list[int] = []
    count: int = 0


class PhaseState(msgspec.Struct):
    """State of the templates of one stream.

    Attributes:
        observed: Templates that are not decided yet, the newest at the end.
        decided: Whether the lines of a template report the training, by its key.
        seen: Number of lines.
        reports: Number of lines that are reports by their words; counted until there are a few.
    """

    observed: list[ObservedTemplate] = []
    decided: dict[int, bool] = {}
    seen: int = 0
    reports: int = 0


ERROR, WARNING, PROGRESS, OTHER = "ewpo"
TRACEBACK, FRAME, EXCEPTION, WARNED, INDENTED, BLANK = "TFXWIB"
"""Kinds: the head of a traceback; a frame; the exception at its end, whose message may continue over indented lines; a warning of Python,
whose source line comes next; a line that begins with white space; a blank line."""
MAX_COLUMNS = 255
"""Maximum number of columns of a table."""
_ROW, _HEADER = 0x100, 0x200
"""First codes of the kinds of rows and headers, by their number of columns."""
_CHANGING = re.compile(f"[{TRACEBACK}{FRAME}{EXCEPTION}{WARNED}{chr(_HEADER)}-{chr(_HEADER + MAX_COLUMNS)}]")
"""Kinds that change the context; the others leave it alone while nothing is open."""
_OTHER_LINES = 12
"""Maximum number of lines of other ranks and threads within a traceback."""
_MESSAGE_LINES = 50
"""Maximum number of indented lines of an exception's message; a longer text quotes a source or a state."""
_PATTERNS = {
    "number": re.compile(r"(?<![\w@-])\d"),
    "exception_name": re.compile(r"^(?:(?:\w+\.)+\w+|[A-Z]\w*)(?::\s|:?$)"),
}


class ClassifyContext(msgspec.Struct):
    """State of a stream between lines. It starts empty.

    Attributes:
        open: `traceback`, `message` (of the exception just named), `warning` (its source line comes next) or nothing.
        foreign: Lines of others since the traceback's last own line; of a message, its lines so far.
        columns: Columns of the last table header; 0 without one.
        phases: What was learned of its templates.
    """

    open: str = ""
    foreign: int = 0
    columns: int = 0
    phases: PhaseState = msgspec.field(default_factory=PhaseState)


def row(columns: int) -> str:
    """Return the kind of a line of numbers alone, in so many columns. It is progress under a header of as many."""
    return chr(_ROW + min(columns, MAX_COLUMNS))


def header(columns: int) -> str:
    """Return the kind of a line that names so many columns."""
    return chr(_HEADER + min(columns, MAX_COLUMNS))


def combine_kind(kind: str, letter: str, template: str) -> str:
    """Return the kind of the lines of `template`, which are of `kind` by their shape and of class `letter` by a model.

    A header without numbers is no report, even if its words resemble one: the rows below it are.
    """
    if letter == PROGRESS and ord(kind) >= _HEADER and not _PATTERNS["number"].search(template):
        return kind
    return kind if letter == OTHER else letter


def resolve(kinds: str, lines: Sequence[str], context: ClassifyContext) -> str:
    """Return the classes of `lines`, whose kinds are `kinds`; `context` is updated."""
    classes, place, count = [], 0, len(kinds)
    while place < count:
        if not context.open:
            found = _CHANGING.search(kinds, place)
            end = found.start() if found else count
            classes.append(kinds[place:end].translate(_classes_alone(context.columns)))
            place = end
        if place < count:
            classes.append(_class_of_line(kinds[place], lines[place], context))
            place += 1
    return "".join(classes)


@lru_cache(maxsize=MAX_COLUMNS + 1)
def _classes_alone(columns: int) -> dict[int, str]:
    """Return the class of each kind while nothing is open and the last header named `columns` columns."""
    table = {ord(INDENTED): OTHER, ord(BLANK): OTHER}
    table |= {_ROW + width: OTHER for width in range(MAX_COLUMNS + 1)}
    if columns:
        table[_ROW + columns] = PROGRESS
    return table


def _class_of_line(kind: str, line: str, context: ClassifyContext) -> str:
    if context.open and (letter := _class_of_continuation(kind, line, context)):
        return letter
    if kind == WARNED:
        context.open = "warning"
        return WARNING
    if kind in (TRACEBACK, FRAME, EXCEPTION):
        context.open = "message" if kind == EXCEPTION else "traceback"
        context.foreign = 0
        return ERROR
    if ord(kind) >= _HEADER:
        context.columns = ord(kind) - _HEADER
        return OTHER
    return kind.translate(_classes_alone(context.columns))


def _class_of_continuation(kind: str, line: str, context: ClassifyContext) -> str:  # noqa: PLR0911  # a list of cases
    """Return the class of a line that continues what is open; empty if it does not."""
    if context.open == "warning":
        context.open = ""
        return WARNING if kind in (INDENTED, WARNING, ERROR) and strip_prefix(line).body[:1].isspace() else ""
    if kind in (TRACEBACK, FRAME, EXCEPTION, BLANK):
        return ""
    if context.open == "message":
        if kind == INDENTED and context.foreign < _MESSAGE_LINES:
            context.foreign += 1
            return ERROR
        context.open = ""
        return ""
    body = strip_prefix(line).body
    if body[:1].isspace():
        context.foreign = 0
        return ERROR
    if kind in (OTHER, ERROR, WARNING) and _PATTERNS["exception_name"].match(body):
        context.open, context.foreign = "message", 0
        return ERROR
    context.foreign += 1
    if context.foreign > _OTHER_LINES:
        context.open = ""
    return ""
