"""Rows of numbers and the headers that name their columns: CSV, tab-separated, spaced, and drawn with pipes."""

import re
from itertools import pairwise

from . import names
from .numbers import parse
from .prefix import LogPrefix

_WIDEST = 64
"""Columns of a table."""
_LONGEST_HEADER = 400
"""Characters of a header."""
_FORMS = {
    "cell": re.compile(
        r"[-+]?(?:\d+:\d\d(?::\d\d)?(?:\.\d+)?|\d++(?:\.\d*+)?(?:[eE][-+]?\d+)?|\.\d+|nan|inf|NaN)(?: ?(?:ms|[smhkKMG%]))?"
        r"(?: \(\d++(?:\.\d*+)? ?%\))?|(?:\d++(?:\.\d++)? (?:ms|[smhd])(?:, |$))+|#na#|None"  # `7 (1.5%)`, `3 m, 20 s`
        r"|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?|"
    ),
    "letters": re.compile(r"[-+\d.,;|:eEnaifNo#dsmhkKMG%()\s]*"),
    "split": re.compile(r"\s*[,;\t|]\s*|\s+"),
    "comma": re.compile(r"[,;]\s*+|(?<!\s)(?:\s++[,;]|[^\S\t]*+\t)\s*+"),
    # A row that begins with a counter, and lists in it: which of their numbers is meant is unknown.
    "counts": re.compile(r"\s*\d+(?:\s{2,}|\t|,)"),
    "list": re.compile(r"\[[^\[\]A-Za-df-z]*\]"),
    # A mark that a value rose, fell or is the best so far.
    "mark": re.compile(r"(?<=\d) [▲▼△▽↑↓✓✔★*](?=\s|$)"),
    "thousands": re.compile(r"(?<=\d),(?=\d{3}(?:,\d{3}){0,6}(?:\s|$))"),
    "blank_in_cell": re.compile(r"\d (?:[smhkKMG(]|ms)"),
    "hole": re.compile(r"\d {8,}[-+\d]"),
    "gap": re.compile(r"\s{2,}"),
    "header": re.compile(
        r"#?\s*+[a-z_][\w/ .-]*+(?:[,;\t]\s*+[a-z_][\w/ .()-]*+){1,60}+\s*+"  # CSV
        r"|\s*+(?:epoch|step|iter\w*+|batch)(?:\s++[a-z_][\w/]*+){2,20}+\s*+"
        r"|\s*+\|?+\s*+(?:epoch|step|iter\w*+|batch)\s*+(?:\|\s*+[a-z_][\w/ ().%-]*+){1,20}+\|?+\s*+",
        re.IGNORECASE,
    ),
    "wide_header": re.compile(r"\s*(?:[A-Za-z#][\w/#%.-]*(?: [\w/#%.()-]+){0,3}(?:\s{2,}|\s*$)){3,30}"),
    "separator": re.compile(r"[\s|+]*+[-=]{2}[-=\s|+:]*+"),
    "unit": re.compile(r"(?<=\d)\s?(ms|[smh%])$"),
    # `train.py:81` at the right margin, as `rich` prints it.
    "margin": re.compile(r"(?<!\s)\s{2,}[\w.]{1,60}\.py:\d++\s*+$"),
    "label": re.compile(r"\s*(?:\[([A-Za-z][\w.: -]{0,40})\]|([A-Za-z][\w.-]{0,40}):)\s+"),
}


def part(prefixed: LogPrefix) -> str:
    """Return the part of a line that may belong to a table: its message, without a label before it and the program's file after it."""
    body = _FORMS["margin"].sub("", prefixed.body) if ".py:" in prefixed.body else prefixed.body
    found = _FORMS["label"].match(body) if prefixed.level or prefixed.stamp else None
    if found is None or (found[2] and names.meaning(found[2]) is not None):
        return body
    return body[found.end() :]


def is_separator(body: str) -> bool:
    """Return whether `body` is the line between a header and its rows."""
    return len(body) <= _LONGEST_HEADER and _FORMS["separator"].fullmatch(body) is not None


def is_row(body: str) -> bool:
    """Return whether `body` holds nothing but numbers in at least three columns."""
    if len(body) > 2000:
        return False
    body = _plain(body)
    found = cells(body) if _FORMS["letters"].fullmatch(body) else []
    return 3 <= len(found) <= _WIDEST and bool(found[0]) and all(map(_FORMS["cell"].fullmatch, found))


def is_header(body: str) -> bool:
    """Return whether `body` looks like the names of columns. Prose with commas does not."""
    if len(body) > _LONGEST_HEADER or ". " in body:
        return False
    if _FORMS["header"].fullmatch(body):
        return True
    words = set(body.lower().split())
    return _FORMS["wide_header"].fullmatch(body) is not None and not words.isdisjoint(
        {"loss", "e", "epoch", "step", "iter", "#"}
    )


def cells(body: str) -> list[str]:
    """Return the cells of a row or of a header."""
    inner = _plain(body).strip(" |\r\n")
    inner = inner[1:] if inner.startswith("#") and not inner.startswith("# ") else inner
    if "  " in inner and (_FORMS["blank_in_cell"].search(inner) or _FORMS["thousands"].search(inner)):
        parts = [_FORMS["thousands"].sub("", part) for part in _FORMS["gap"].split(inner)]
    elif inner.count("|") > 1:
        parts = inner.split("|")
    elif _FORMS["comma"].search(inner):
        parts = _FORMS["comma"].split(inner)
    elif "|" not in inner and _FORMS["wide_header"].fullmatch(body):
        parts = _FORMS["gap"].split(inner)
    elif _FORMS["hole"].search(inner):
        parts = _with_empty(inner)
    else:
        parts = _FORMS["split"].split(inner)
    return [part.strip() for part in parts]


def _plain(body: str) -> str:
    """Return `body` without marks and with `None` for lists."""
    body = body if body.isascii() and "*" not in body else _FORMS["mark"].sub("  ", body)
    return _FORMS["list"].sub("None", body) if "[" in body and _FORMS["counts"].match(body) else body


def _with_empty(inner: str) -> list[str]:
    """Return the cells between blanks. Where all columns have one width, empty ones are `None`."""
    found = list(re.finditer(r"\S+", inner))
    apart = [later.start() - earlier.start() for earlier, later in pairwise(found)]
    width = min(apart, default=0)
    parts = [each[0] for each in found[:1]]
    for distance, each in zip(apart, found[1:], strict=True):
        empty = 0 if any(other % width for other in apart) else distance // width - 1
        parts += [*["None"] * empty, each[0]]
    return parts if len(parts) <= _WIDEST else []


def value(cell: str) -> float | None:
    """Return the number that a cell holds, as printed; None where it holds none."""
    if ", " not in cell:  # `3 m, 20 s`
        cell = _FORMS["unit"].sub("", cell.partition(" (")[0]).replace(" ", "")
    try:
        return parse(cell)
    except ValueError:
        return None


def seconds_in(cell: str) -> float:
    """Return the seconds in the unit of time that a cell names; 1 where it names none."""
    found = _FORMS["unit"].search(cell) if ", " not in cell else None
    return {"ms": 1e-3, "m": 60.0, "h": 3600.0}.get(found[1], 1.0) if found else 1.0
