"""Tables in a stream: which line names the columns, and what a row under it holds."""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache

from ..classified_chunk import OTHER, PROGRESS, ClassifiedChunk
from ..grammar import names, stamps, table
from ..grammar.extractor import LineFields
from ..grammar.names import NO_FIELDS, Field, FieldLayout, Meaning
from ..grammar.prefix import strip_prefix
from .state import TrackState

_ROW = "r"
_FORMS = {
    "first_row": re.compile(f"(?<!{_ROW}){_ROW}"),
    # Letters that no number, no unit of time and no date in a row has.
    "not_of_a_row": re.compile(r"(?<!\d)(?<!\d )[GKMk]|[B-DHJLO-RT-Zb-cgjlo-rt-z]"),
}


def find_header(view: ClassifiedChunk, state: TrackState) -> None:
    """Keep the names of columns: those right above rows, or the last ones before where these do not fit."""
    rows = {template for template in view.distinct if _may_be_row(template)}
    headers = {template for template in view.distinct if _is_header(template)}
    if rows:
        marks = "".join(
            _ROW if letter == PROGRESS and template in rows else letter
            for letter, template in zip(view.classes, view.templates, strict=True)
        )
        for found in _FORMS["first_row"].finditer(marks):
            _look_above(view, state, found.start(), headers)
    state.pending = _last_header(view, len(view.lines), headers) or state.pending


def _look_above(view: ClassifiedChunk, state: TrackState, start: int, headers: set[str]) -> None:
    """Take the header above the row at `start`: right above it or above a separator; else, for another width, the last before it."""
    width = _width(view.templates[start])
    above = start - 1
    if above >= 0 and table.is_separator(table.part(strip_prefix(view.lines[above]))):
        above -= 1
    header = view.lines[above] if above >= 0 and view.templates[above] in headers else ""
    if not header and (above < 0 or len(state.header) != width):
        header = _last_header(view, start, headers) or state.pending
    cells = table.cells(table.part(strip_prefix(header))) if header else []
    if len(cells) == width:
        state.header = cells


def _last_header(view: ClassifiedChunk, before: int, headers: set[str]) -> str:
    """Return the last line above line `before` that names columns; empty without one."""
    others = (place for place in reversed(view.without_progress) if place < before and view.classes[place] == OTHER)
    return next((view.lines[place] for place in others if view.templates[place] in headers), "") if headers else ""


@lru_cache(maxsize=4096)
def _may_be_row(template: str) -> bool:
    """Return whether the lines of `template` may be rows of numbers."""
    body = table.part(strip_prefix(template))
    return body[:1] in frozenset("0123456789+-. |\t\x1b") and not _FORMS["not_of_a_row"].search(body)


@lru_cache(maxsize=4096)
def _width(template: str) -> int:
    """Return the number of columns of the lines of `template`, as rows."""
    prefixed = strip_prefix(template)
    return len(table.cells(table.part(prefixed))) + prefixed.cell


@lru_cache(maxsize=4096)
def _is_header(template: str) -> bool:
    """Return whether the lines of `template` name columns."""
    named = template.startswith("r,l,t") or any(word in template for word in ("oss", "LOSS", "poch", "ter", "tep"))
    return named and table.is_header(table.part(strip_prefix(template)))


def row(line: str, header: Sequence[str], stamp: float | None = None) -> LineFields:
    """Return the fields of a table's row; `stamp`: the time in one of its cells, in seconds."""
    fields, shape = columns(tuple(header))
    prefixed = strip_prefix(line)
    cells = [*([prefixed.stamp] if prefixed.cell else []), *table.cells(table.part(prefixed))] if fields else []
    if not fields or len(cells) != len(header):
        return LineFields(NO_FIELDS, [], None)
    read_off = [(field, table.value(cells[field.index])) for field in fields]
    values = [(field, value * _scale(field, cells[field.index])) for field, value in read_off if value is not None]
    stamp = stamps.seconds(prefixed.stamp) if prefixed.stamp else stamp
    return LineFields(FieldLayout(fields, shape=shape), values, stamp)


def losses_under(line: str, header: str) -> list[tuple[Field, float]]:
    """Return the losses in the cells before a bar that are below the names of `header`."""
    cells = strip_prefix(line).body.partition("%")[0].split()[:-1]
    names_above = table.cells(table.part(strip_prefix(header)))
    fields = columns(tuple(names_above))[0] if len(cells) == len(names_above) else ()
    found = [(field, table.value(cells[field.index])) for field in fields if field.meaning is Meaning.LOSS]
    return [(field, value) for field, value in found if value is not None]


def _scale(field: Field, cell: str) -> float:
    """Return the factor to seconds: that of the column's name, else that of the cell's own unit."""
    is_time = field.meaning in (Meaning.STEP_TIME, Meaning.TIME, Meaning.CLOCK)
    return table.seconds_in(cell) if field.scale == 1.0 and is_time else field.scale


@lru_cache(maxsize=256)
def columns(header: tuple[str, ...]) -> tuple[tuple[Field, ...], int]:
    """Return the known meanings of the columns, and a checksum of their names."""
    fields: list[Field] = []
    if header[:3] == ("r", "l", "t"):  # the episode monitors of Gym: length in steps, seconds since the start
        fields += [Field(1, Meaning.DONE, "l"), Field(2, Meaning.CLOCK, "t")]
    for index, name in enumerate(header):
        known = names.meaning(name.partition(" (")[0]) if name.endswith(")") else None
        known = names.meaning(name) or known  # `Step (% done)`
        if known is not None and known[0] not in (Meaning.MEASURE, Meaning.TOTAL):
            fields.append(Field(index, known[0], name, known[1], known[2]))
    return tuple(fields), zlib.crc32("\0".join(header).encode("utf-8", "replace"))
