"""What one stream carries from line to line: an open traceback, a warning whose source line comes next, a table's width.

Some lines mean nothing alone: the source line that Python prints under a warning, the frames of a traceback, a row of bare numbers. A line's
*kind* is what it is alone; `resolve` turns kinds into classes, in order, with the context. So the result does not
depend on how lines are cut into chunks.
"""

import re
from collections.abc import Sequence

import msgspec

from processors.grammar.prefix import peel
from processors.grammar.table import cells

ERROR, WARNING, PROGRESS, OTHER = "ewpo"

TRACEBACK = "T"
"""Opens a traceback: an error."""
FRAME = "F"
"""A frame of a traceback: an error, wherever it stands."""
EXCEPTION = "X"
"""Ends a traceback: an error. Its message may go on over indented lines."""
WARNED = "W"
"""A warning of Python's `warnings`: its source line comes next."""
HEADER = "H"
"""Names of columns. A row of as many numbers after it is progress."""
ROW = "N"
"""Nothing but numbers."""
INDENTED = "I"
"""Begins with white space and says nothing alone."""
BLANK = "B"

PLAIN = frozenset("ewpo" + INDENTED + BLANK)
"""Kinds that need no context and make none, while none is open."""
_ALONE = str.maketrans({INDENTED: OTHER, BLANK: OTHER})

_FOREIGN = 12
"""Lines of others that may stand within a traceback (other ranks, other threads)."""

_NAMED = re.compile(r"[A-Za-z_][\w.]*(?:$|:\s|: ?$)")


class ClassifyContext(msgspec.Struct):
    """What one stream carries from line to line. Starts empty.

    Attributes:
        open: `traceback`, `message` (of the exception just named), `warning` (its source line comes next) or nothing.
        foreign: Lines of others seen since the traceback's last own line.
        columns: Columns of the last table header; 0 without one.
    """

    open: str = ""
    foreign: int = 0
    columns: int = 0


def columns(line: str) -> int:
    """Return how many columns a row or a header of a table has."""
    return len(cells(peel(line).body))


def resolve(kinds: str, lines: Sequence[str], context: ClassifyContext) -> str:
    """Return the classes of `lines`, whose kinds are `kinds`; `context` moves on."""
    if not context.open and not context.columns and PLAIN.issuperset(kinds):
        return kinds.translate(_ALONE)
    return "".join([_one(kind, line, context) for kind, line in zip(kinds, lines, strict=True)])


def _one(kind: str, line: str, context: ClassifyContext) -> str:
    if context.open and (letter := _continued(kind, line, context)):
        return letter
    if kind in PLAIN:
        return kind if kind in "ewpo" else OTHER
    if kind == ROW:
        return PROGRESS if context.columns and columns(line) == context.columns else OTHER
    if kind == HEADER:
        context.columns = columns(line)
        return OTHER
    if kind == WARNED:
        context.open = "warning"
        return WARNING
    context.open = "message" if kind == EXCEPTION else "traceback"
    context.foreign = 0
    return ERROR


def _continued(kind: str, line: str, context: ClassifyContext) -> str:
    """Return the class of a line that continues what is open; empty where it does not."""
    if context.open == "warning":
        context.open = ""
        return WARNING if kind == INDENTED else ""
    if kind in (TRACEBACK, FRAME, EXCEPTION):
        return ""
    if context.open == "message":
        if kind == INDENTED:
            return ERROR
        if kind != BLANK:
            context.open = ""
        return ""
    if kind == BLANK:
        return ""
    body = peel(line).body
    if body[:1].isspace():
        context.foreign = 0
        return ERROR
    if kind in (OTHER, ERROR, WARNING) and _NAMED.match(body):
        context.open = "message"
        return ERROR
    context.foreign += 1
    if context.foreign > _FOREIGN:
        context.open = ""
    return ""
