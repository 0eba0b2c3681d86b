"""Which line above rows of bare numbers names their columns."""

import re
from collections.abc import Sequence

from processors.grammar.prefix import clean, strip_prefix

Above = list[str]
"""The last lines that hold no row, oldest first."""

_DRAWN = re.compile(r"[|\u2502\u2503;,\t]")
_GAP = re.compile(r"\s{2,}")
_BLANK = re.compile(r"\s+")
_LETTER = re.compile(r"[^\W\d_]")
_RULE = re.compile(r"[\s|+:=\u2500-\u257f-]*")


def names_above(lines: Sequence[str], columns: int) -> list[str]:
    """Return the names of so many columns in the last of `lines`, or in the one before where that is a rule; empty where they do not fit.

    Columns are parted by one mark, by gaps of two blanks or more, or by single blanks: what gives as many cells as there are columns.
    """
    for line in reversed(lines):
        body = strip_prefix(clean(line)).body
        if not _RULE.fullmatch(body):
            return _cells(body, columns)
    return []


def _cells(body: str, columns: int) -> list[str]:
    marked = [cell.strip() for cell in _DRAWN.split(body)]
    ways = (
        [cell for place, cell in enumerate(marked) if cell or 0 < place < len(marked) - 1],
        _GAP.split(body.strip()),
        _BLANK.split(body.strip()),
    )
    return next((way for way in ways if len(way) == columns > 1 and all(map(_LETTER.search, way))), [])
