"""What one stream carries from line to line: an open traceback, a warning whose source line comes next, a table's width.

Some lines mean nothing alone: the source line that Python prints under a warning, the frames of a traceback, a row of bare
numbers. A line's *kind* is what it is alone; `resolve` turns kinds into classes, in order, with the context. So the result does
not depend on how lines are cut into chunks.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from ..grammar.prefix import strip_prefix


class Watched(msgspec.Struct, array_like=True):
    """A template whose numbers are looked at.

    Attributes:
        text: A line of it, digits masked.
        key: Checksum of what its lines have in common.
        rows: Its first numbers; null for what is no number.
        places: Line of each row, rules and blank lines left out.
        count: Lines seen.
    """

    text: str
    key: int
    rows: list[list[float | None]] = []
    places: list[int] = []
    count: int = 0


class PhaseState(msgspec.Struct):
    """What is remembered of one stream.

    Attributes:
        watched: Templates that are not decided yet, the one that was printed last at the end.
        decided: Whether the lines of a template tell of the training, by its key.
        seen: Lines seen.
        reports: Lines that are reports by their words; counted until there are a few.
        evaluation: The last lines stand below the heading of an evaluation.
    """

    watched: list[Watched] = []
    decided: dict[int, bool] = {}
    seen: int = 0
    reports: int = 0
    evaluation: bool = False


ERROR, WARNING, PROGRESS, OTHER = "ewpo"

TRACEBACK = "T"
"""Opens a traceback: an error."""
FRAME = "F"
"""A frame of a traceback: an error, wherever it stands."""
EXCEPTION = "X"
"""Ends a traceback: an error. Its message may go on over indented lines."""
WARNED = "W"
"""A warning of Python's `warnings`: its source line comes next."""
INDENTED = "I"
"""Begins with white space and says nothing alone."""
BLANK = "B"

WIDEST = 255
"""Columns that a table has at most."""

_ROW, _HEADER = 0x100, 0x200
_MOVING = re.compile(f"[{TRACEBACK}{FRAME}{EXCEPTION}{WARNED}{chr(_HEADER)}-{chr(_HEADER + WIDEST)}]")
"""Kinds that change the context; the others leave it alone while nothing is open."""

_FOREIGN = 12
"""Lines of others that may stand within a traceback (other ranks, other threads)."""

_MESSAGE = 50
"""Indented lines that an exception's message goes on over at most; what is longer quotes a source or a state."""

_NUMBERED = re.compile(r"(?<![\w@-])\d")
_NAMED = re.compile(r"(?:(?:\w+\.)+\w+|[A-Z]\w*)(?::\s|:?$)")


class ClassifyContext(msgspec.Struct):
    """What one stream carries from line to line. Starts empty.

    Attributes:
        open: `traceback`, `message` (of the exception just named), `warning` (its source line comes next) or nothing.
        foreign: Lines of others seen since the traceback's last own line; of a message, its lines so far.
        columns: Columns of the last table header; 0 without one.
        phases: What was learned of its templates.
    """

    open: str = ""
    foreign: int = 0
    columns: int = 0
    phases: PhaseState = msgspec.field(default_factory=PhaseState)


def row(columns: int) -> str:
    """Return the kind of a line of nothing but numbers, in so many columns. It is progress under a header of as many."""
    return chr(_ROW + min(columns, WIDEST))


def header(columns: int) -> str:
    """Return the kind of a line that names so many columns."""
    return chr(_HEADER + min(columns, WIDEST))


def settled(kind: str, said: str, template: str) -> str:
    """Return the kind of the lines of `template`, whose shape makes them of `kind` and of which a model said `said`.

    Names of columns are no report, however much they sound like one: under them the rows are.
    """
    if said == PROGRESS and ord(kind) >= _HEADER and not _NUMBERED.search(template):
        return kind
    return kind if said == OTHER else said


def resolve(kinds: str, lines: Sequence[str], context: ClassifyContext) -> str:
    """Return the classes of `lines`, whose kinds are `kinds`; `context` moves on."""
    classes, place, count = [], 0, len(kinds)
    while place < count:
        if not context.open:
            found = _MOVING.search(kinds, place)
            end = found.start() if found else count
            classes.append(kinds[place:end].translate(_alone(context.columns)))
            place = end
        if place < count:
            classes.append(_one(kinds[place], lines[place], context))
            place += 1
    return "".join(classes)


@lru_cache(maxsize=WIDEST + 1)
def _alone(columns: int) -> dict[int, str]:
    """Return what each kind is while nothing is open and the last header named `columns` columns."""
    table = {ord(INDENTED): OTHER, ord(BLANK): OTHER}
    table |= {_ROW + width: OTHER for width in range(WIDEST + 1)}
    if columns:
        table[_ROW + columns] = PROGRESS
    return table


def _one(kind: str, line: str, context: ClassifyContext) -> str:
    if context.open and (letter := _continued(kind, line, context)):
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
    return kind.translate(_alone(context.columns))


def _continued(kind: str, line: str, context: ClassifyContext) -> str:  # noqa: PLR0911  # a list of cases
    """Return the class of a line that continues what is open; empty where it does not."""
    if context.open == "warning":
        context.open = ""
        return WARNING if kind in (INDENTED, WARNING, ERROR) and strip_prefix(line).body[:1].isspace() else ""
    if kind in (TRACEBACK, FRAME, EXCEPTION):
        return ""
    if context.open == "message":
        if kind == INDENTED and context.foreign < _MESSAGE:
            context.foreign += 1
            return ERROR
        if kind != BLANK:
            context.open = ""
        return ""
    if kind == BLANK:
        return ""
    body = strip_prefix(line).body
    if body[:1].isspace():
        context.foreign = 0
        return ERROR
    if kind in (OTHER, ERROR, WARNING) and _NAMED.match(body):
        context.open, context.foreign = "message", 0
        return ERROR
    context.foreign += 1
    if context.foreign > _FOREIGN:
        context.open = ""
    return ""
