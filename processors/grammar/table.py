"""Rows of numbers and the headers that name their columns: CSV, tab-separated, spaced, and drawn with pipes."""

import re

from .numbers import parse

_CELL = re.compile(
    r"[-+]?(?:\d+:\d\d(?::\d\d)?(?:\.\d+)?|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf|NaN)(?:ms|[smh%])?|#na#|None|"
)
_LETTERS = re.compile(r"[-+\d.,;|:eEnaifNo#smh%\s]*")
_WIDEST = 64
_LONGEST_HEADER = 400
_SPLIT = re.compile(r"\s*[,;\t|]\s*|\s+")
_COMMA = re.compile(r"\s*[,;\t]\s*")
_CSV_HEADER = re.compile(r"#?\s*[A-Za-z_][\w/ .-]*(?:[,;\t]\s*[A-Za-z_][\w/ .()-]*){1,60}\s*")
_SPACED_HEADER = re.compile(r"\s*(?:epoch|step|iter\w*|batch)(?:\s+[A-Za-z_][\w/]*){2,20}\s*", re.IGNORECASE)
_PIPE_HEADER = re.compile(
    r"\s*\|?\s*(?:epoch|step|iter\w*|batch)\s*(?:\|\s*[A-Za-z_][\w/ ().%-]*){1,20}\|?\s*", re.IGNORECASE
)


_WIDE_HEADER = re.compile(r"\s*(?:[A-Za-z#][\w/#%.-]*(?: [\w/#%.-]+)?(?:\s{2,}|\s*$)){3,30}")
_SEPARATOR = re.compile(r"[\s|+]*[-=]{2,}[-=\s|+:]*")
_UNIT = re.compile(r"(?<=\d)(?:ms|[smh%])$")
_BAR = re.compile(r"(.{1,300}?)\s*:?\s+\d+%")
_PLAIN = re.compile(r"\d+(?:\.\d*)?(?:e[-+]?\d+)?|nan|inf")
_LIST = re.compile(r"\[[^\[\]A-Za-df-z]*\]")
"""Several numbers in one cell: which of them counts, nobody says."""
_COUNTS = re.compile(r"\s*\d+(?:\s{2,}|\t|,)")
_GAP = re.compile(r"\s{2,}")


def is_separator(body: str) -> bool:
    """Return whether `body` is the line between a header and its rows."""
    return len(body) <= _LONGEST_HEADER and _SEPARATOR.fullmatch(body) is not None


def is_row(body: str) -> bool:
    """Return whether `body` is nothing but at least three numbers in columns."""
    if len(body) > 2000:
        return False
    if "[" in body and _COUNTS.match(body):
        body = _LIST.sub("None", body)
    if not _LETTERS.fullmatch(body):
        return False
    found = cells(body)
    return 3 <= len(found) <= _WIDEST and bool(found[0]) and all(_CELL.fullmatch(cell) for cell in found)


def is_header(body: str) -> bool:
    """Return whether `body` looks like the names of columns. Prose with commas is none."""
    if len(body) > _LONGEST_HEADER or ". " in body:
        return False
    if any(header.fullmatch(body) for header in (_CSV_HEADER, _SPACED_HEADER, _PIPE_HEADER)):
        return True
    return _WIDE_HEADER.fullmatch(body) is not None and bool({"loss", "e", "epoch", "step", "iter", "#"} & _words(body))


def cells(body: str) -> list[str]:
    """Return the cells of a row or of a header."""
    inner = (_LIST.sub("None", body) if "[" in body and _COUNTS.match(body) else body).strip(" |\r\n")
    inner = inner[1:] if inner.startswith("#") and not inner.startswith("# ") else inner
    if inner.count("|") > 1:
        parts = inner.split("|")
    elif _COMMA.search(inner):
        parts = _COMMA.split(inner)
    elif "|" not in inner and _WIDE_HEADER.fullmatch(body):
        parts = _GAP.split(inner)
    else:
        parts = _SPLIT.split(inner)
    return [part.strip() for part in parts]


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
    """Return the number that a cell holds; None where it holds none."""
    try:
        return parse(_UNIT.sub("", cell))
    except ValueError:
        return None
