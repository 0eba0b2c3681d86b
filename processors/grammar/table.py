"""Rows of numbers and the headers that name their columns: CSV, tab-separated, spaced, and drawn with pipes."""

import re
from itertools import pairwise

from . import names
from .numbers import parse
from .prefix import LogPrefix

_CELL = re.compile(
    r"[-+]?(?:\d+:\d\d(?::\d\d)?(?:\.\d+)?|\d++(?:\.\d*+)?(?:[eE][-+]?\d+)?|\.\d+|nan|inf|NaN)(?:ms|[smhkKMG%])?|#na#|None"
    r"|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?|"
)
_LETTERS = re.compile(r"[-+\d.,;|:eEnaifNo#smhkKMG%()\s]*")
_SPACED_CELL = re.compile(
    r"[-+]?\d++(?:\.\d*+)?(?:[eE][-+]?\d+)?(?:\s?(?:ms|[smhkKMG%]))?(?:\s\(\d++(?:\.\d*+)?\s?%\))?"
    r"|(?:\d++(?:\.\d++)? (?:ms|[smhd])(?:, |$))+"
)
"""A cell with blanks in it, where two or more part the columns: `44.1 ms`, `1.5 M`, `300 (7.5%)`, `3 m, 20 s`."""
_MARK = re.compile(r"(?<=\d) [▲▼△▽↑↓✓✔★*](?=\s|$)")
"""What says that a value rose, fell or is the best so far."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?:,\d{3}){0,6}(?:\s|$))")
_SHARE = re.compile(r"\s\(\d++(?:\.\d*+)?\s?%\)$")
_TIMES = {"ms": 1e-3, "m": 60.0, "h": 3600.0}
_WIDEST = 64
"""Maximum number of columns of a table. It bounds the time for a line."""
_LONGEST_HEADER = 400
"""Maximum characters of a header or a separator line. Longer lines are usually text; it bounds the time for a line."""
_SPLIT = re.compile(r"\s*[,;\t|]\s*|\s+")
_COMMA = re.compile(r"[,;]\s*+|(?<!\s)(?:\s++[,;]|[^\S\t]*+\t)\s*+")
_CSV_HEADER = re.compile(r"#?\s*+[A-Za-z_][\w/ .-]*+(?:[,;\t]\s*+[A-Za-z_][\w/ .()-]*+){1,60}+\s*+")
_SPACED_HEADER = re.compile(r"\s*+(?:epoch|step|iter\w*+|batch)(?:\s++[A-Za-z_][\w/]*+){2,20}+\s*+", re.IGNORECASE)
_PIPE_HEADER = re.compile(
    r"\s*+\|?+\s*+(?:epoch|step|iter\w*+|batch)\s*+(?:\|\s*+[A-Za-z_][\w/ ().%-]*+){1,20}+\|?+\s*+", re.IGNORECASE
)


_WIDE_HEADER = re.compile(r"\s*(?:[A-Za-z#][\w/#%.-]*(?: [\w/#%.()-]+){0,3}(?:\s{2,}|\s*$)){3,30}")
_SEPARATOR = re.compile(r"[\s|+]*+[-=]{2}[-=\s|+:]*+")
_UNIT = re.compile(r"(?<=\d)\s?(ms|[smh%])$")
_BAR = re.compile(r"(.{1,300}?):?(?<!\s)\s++\d++%")
_PLAIN = re.compile(r"\d+(?:\.\d*)?(?:e[-+]?\d+)?|nan|inf")
_LIST = re.compile(r"\[[^\[\]A-Za-df-z]*\]")
"""Several numbers in one cell: which of them counts, nobody says."""
_ENDS = re.compile(r"^(\s*\d+)/\d+(?:(\s+\d+)/\d+)?(?=(?:\s+[-+.\d]\S*){3})")
"""The ends of the counters that a row begins with: `3/20  40/165  0.62 …`."""
_COUNTS = re.compile(r"\s*\d+(?:\s{2,}|\t|,)")
_HOLE = re.compile(r"\d {8,}[-+\d]")
_FILLED = re.compile(r"\S+")
_GAP = re.compile(r"\s{2,}")
_WITH_BLANK = re.compile(r"\d (?:[smhkKMG(]|ms)")


_LABEL = re.compile(r"\s*(?:\[([A-Za-z][\w.: -]{0,40})\]|([A-Za-z][\w.-]{0,40}):)\s+")
"""A word that a logger of people's own puts between its level and the message."""


def part(prefixed: LogPrefix) -> str:
    """Return what of a line may be a part of a table: its message, without the word that a logger put before it."""
    found = _LABEL.match(prefixed.body) if prefixed.level or prefixed.stamp else None
    if found is None or (found[2] and names.meaning(found[2]) is not None):
        return prefixed.body
    return prefixed.body[found.end() :]


def is_separator(body: str) -> bool:
    """Return whether `body` is the line between a header and its rows."""
    return len(body) <= _LONGEST_HEADER and _SEPARATOR.fullmatch(body) is not None


def is_row(body: str) -> bool:
    """Return whether `body` is nothing but at least three numbers in columns."""
    if len(body) > 2000:
        return False
    if "[" in body and _COUNTS.match(body):
        body = _LIST.sub("None", body)
    plain = _ENDS.sub(r"\1\2", _MARK.sub("  ", body))
    if not _LETTERS.fullmatch(plain):
        return False
    found = cells(plain)
    form = _SPACED_CELL if _is_spaced(plain) else _CELL
    return 3 <= len(found) <= _WIDEST and bool(found[0]) and all(map(form.fullmatch, found))


def is_header(body: str) -> bool:
    """Return whether `body` looks like the names of columns. Prose with commas is none."""
    if len(body) > _LONGEST_HEADER or ". " in body:
        return False
    if _CSV_HEADER.fullmatch(body) or _SPACED_HEADER.fullmatch(body) or _PIPE_HEADER.fullmatch(body):
        return True
    return _WIDE_HEADER.fullmatch(body) is not None and bool({"loss", "e", "epoch", "step", "iter", "#"} & _words(body))


def cells(body: str) -> list[str]:
    """Return the cells of a row or of a header."""
    body = _ENDS.sub(r"\1\2", _MARK.sub("  ", body))
    if _is_spaced(body):
        return [_THOUSANDS.sub("", part) for part in _GAP.split(body.strip())]
    inner = (_LIST.sub("None", body) if "[" in body and _COUNTS.match(body) else body).strip(" |\r\n")
    inner = inner[1:] if inner.startswith("#") and not inner.startswith("# ") else inner
    if inner.count("|") > 1:
        parts = inner.split("|")
    elif _COMMA.search(inner):
        parts = _COMMA.split(inner)
    elif "|" not in inner and _WIDE_HEADER.fullmatch(body):
        parts = _GAP.split(inner)
    elif _HOLE.search(inner):
        parts = _with_empty(inner)
    else:
        parts = _SPLIT.split(inner)
    return [part.strip() for part in parts]


def _with_empty(inner: str) -> list[str]:
    """Return the cells between blanks. Where all columns begin equally far apart, those that hold nothing are `None`."""
    found = list(_FILLED.finditer(inner))
    apart = [later.start() - earlier.start() for earlier, later in pairwise(found)]
    width = min(apart, default=0)
    parts = [each[0] for each in found[:1]]
    for distance, each in zip(apart, found[1:], strict=True):
        empty = 0 if any(other % width for other in apart) else distance // width - 1
        parts += [*["None"] * empty, each[0]]
    return parts if len(parts) <= _WIDEST else []


def _is_spaced(body: str) -> bool:
    """Return whether `body` is a row of columns that two or more blanks part, with blanks or commas within numbers."""
    if "  " not in body or not (_THOUSANDS.search(body) or _WITH_BLANK.search(body)):
        return False
    return all(_SPACED_CELL.fullmatch(_THOUSANDS.sub("", part)) for part in _GAP.split(body.strip()))


def numbers_under(line: str, columns: int) -> dict[int, float]:
    """Return by column the cells of `line` that are numbers alone; none where it has not so many cells.

    Cells end at tabs, else at blanks, and before the percentage of a bar.
    """
    bar = _BAR.match(line)
    parts = bar[1].split() if bar else line.strip().split("\t")
    if len(parts) != columns:
        return {}
    return {place: float(part) for place, part in enumerate(parts) if _PLAIN.fullmatch(part)}


def _words(body: str) -> set[str]:
    return set(body.lower().split())


def value(cell: str) -> float | None:
    """Return the number that a cell holds, as printed; None where it holds none."""
    if ", " not in cell:  # `3 m, 20 s`
        cell = _UNIT.sub("", _SHARE.sub("", cell)).replace(" ", "")
    try:
        return parse(cell)
    except ValueError:
        return None


def seconds_in(cell: str) -> float:
    """Return the seconds in the unit of time that a cell names; 1 where it names none."""
    found = _UNIT.search(cell) if ", " not in cell else None
    return _TIMES.get(found[1], 1.0) if found else 1.0
