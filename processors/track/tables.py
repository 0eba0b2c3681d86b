"""Tables in a stream: which line names the columns, and what a row under it holds."""

import re
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..classified_chunk import OTHER, PROGRESS, ClassifiedChunk
from ..grammar import names, stamps, table
from ..grammar.extractor import LineFields
from ..grammar.names import Field, FieldLayout, Meaning
from ..grammar.prefix import strip_prefix
from .state import TrackState

_ROW = "r"
_FIRST_ROW = re.compile(f"(?<!{_ROW}){_ROW}")
"""Where a table may begin. A bar may be drawn between its header and its first row, and between its rows."""
_HEADERS = 8
"""Newest lines of a chunk among which a header is remembered for rows in the next chunks."""
_MONITOR = (("l", Meaning.DONE), ("t", Meaning.CLOCK))
"""Columns of the episode monitors that Gym and Stable-Baselines3 write: length in steps, seconds since the start."""
_HEADER_LENGTH = 400
"""Maximum characters of a header. Longer lines are usually text; it bounds the time for a line."""
_OF_A_HEADER = ("oss", "LOSS", "poch", "ter", "tep")
_OF_A_ROW = frozenset("0123456789+-. |\t\x1b")
_ASIDE = re.compile(r"(?<!\s)\s*+\([^()]*+\)$")
"""What a column's name says beside: `Step (% done)`."""
_DURATIONS = (Meaning.STEP_TIME, Meaning.TIME, Meaning.CLOCK)
_NOT_OF_A_ROW = re.compile(r"(?<!\d)(?<!\d )[GKMk]|[B-DHJLO-RT-Zb-cgjlo-rt-z]")
"""Letters that no number, no unit of time and no date in a row has."""


class Headers:
    """The headers of a chunk, looked for when a line asks for the one above it.

    Args:
        view: The chunk.
        before: The last header before it.
    """

    def __init__(self, view: ClassifiedChunk, before: str) -> None:
        self._view = view
        self._before = before
        self._found: list[tuple[int, str]] | None = None

    def above(self, place: int) -> str:
        """Return the last header above line `place`; empty without one."""
        if self._found is None:
            lines, masked, classes = self._view.lines, self._view.templates, self._view.classes
            others = (index for index in self._view.without_progress if classes[index] == OTHER)
            self._found = [(index, lines[index]) for index in others if _is_header(masked[index])]
        return next((header for index, header in reversed(self._found) if index < place), self._before)


def is_mixed(line: str) -> bool:
    """Return whether `line` may be a row whose cells are not all numbers: a bar, or cells between tabs."""
    return "\t" in line or "%" in line


def find_header(view: ClassifiedChunk, state: TrackState, headers: Headers) -> None:
    """Keep the names of columns: those that stand right above rows, or the last ones before where these do not fit."""
    rows = {template for template in view.distinct if _may_be_row(template)}
    if rows:
        marks = "".join(
            _ROW if letter == PROGRESS and template in rows else letter
            for letter, template in zip(view.classes, view.templates, strict=True)
        )
        for found in _FIRST_ROW.finditer(marks):
            _look_above(view, state, found.start(), headers)
    others: list[int] = []
    place = view.classes.rfind(OTHER)
    while place >= 0 and len(others) < _HEADERS:
        if len(view.lines[place]) <= _HEADER_LENGTH:
            others.append(place)
        place = view.classes.rfind(OTHER, 0, place)
    if newest := _first_header(view, others):
        state.pending = newest


def _look_above(view: ClassifiedChunk, state: TrackState, start: int, headers: Headers) -> None:
    width = _width(view.templates[start])
    above = range(start - 1, max(0, start - 2) - 1, -1)
    separated = [table.is_separator(table.part(strip_prefix(view.lines[place]))) for place in above]
    header = _first_header(view, above[1:] if separated[:1] == [True] else above[:1])
    if not header and len(state.header) != width:
        header = headers.above(start)
    elif not header and start <= 1:
        header = state.pending if all(separated) else ""
    cells = table.cells(table.part(strip_prefix(header))) if header else []
    if len(cells) == width:
        state.header = cells


def _first_header(view: ClassifiedChunk, places: Iterable[int]) -> str:
    """Return the first of the lines at `places` that names columns; empty without one."""
    return next((view.lines[place] for place in places if _is_header(view.templates[place])), "")


@lru_cache(maxsize=4096)
def _may_be_row(template: str) -> bool:
    """Return whether the lines of `template` may be rows of numbers."""
    body = table.part(strip_prefix(template))
    return body[:1] in _OF_A_ROW and not _NOT_OF_A_ROW.search(body)


@lru_cache(maxsize=4096)
def _width(template: str) -> int:
    """Return in how many columns the lines of `template` are, as rows."""
    prefixed = strip_prefix(template)
    return len(table.cells(table.part(prefixed))) + prefixed.cell


@lru_cache(maxsize=4096)
def _is_header(template: str) -> bool:
    """Return whether the lines of `template` name columns: which digits they hold makes no difference."""
    named = any(word in template for word in _OF_A_HEADER) or template.startswith("r,l,t")
    return named and len(template) <= _HEADER_LENGTH and table.is_header(table.part(strip_prefix(template)))


def row(line: str, header: Sequence[str], stamp: float | None = None) -> LineFields:
    """Return the fields of a table's row; `stamp`: the time in one of its cells, in seconds."""
    fields, shape = columns(tuple(header))
    if not fields:
        return LineFields(FieldLayout(()), [], None)
    prefixed = strip_prefix(line)
    cells = [*([prefixed.stamp] if prefixed.cell else []), *table.cells(table.part(prefixed))]
    if len(cells) != len(header):
        return LineFields(FieldLayout(()), [], None)
    read_off = [(field, table.value(cells[field.index])) for field in fields]
    values = [(field, value * _scale(field, cells[field.index])) for field, value in read_off if value is not None]
    return LineFields(
        FieldLayout(fields, shape=shape), values, stamps.seconds(prefixed.stamp) if prefixed.stamp else stamp
    )


def _scale(field: Field, cell: str) -> float:
    """Return the factor to seconds: that of the column's name, else that of the cell's own unit."""
    return table.seconds_in(cell) if field.scale == 1.0 and field.meaning in _DURATIONS else field.scale


def under(line: str, header: str) -> list[tuple[Field, float]]:
    """Return the losses of a line that stands under a table's `header`, though not all of its cells are numbers."""
    names = table.cells(table.part(strip_prefix(header)))
    found = table.numbers_under(strip_prefix(line).body, len(names))
    fields = (field for field in columns(tuple(names))[0] if field.meaning is Meaning.LOSS)
    return [(field, found[field.index]) for field in fields if field.index in found]


@lru_cache(maxsize=256)
def columns(header: tuple[str, ...]) -> tuple[tuple[Field, ...], int]:
    """Return what the columns mean, where that is known, and a checksum of their names."""
    fields = (
        [Field(header.index(name), meaning, name) for name, meaning in _MONITOR]
        if header[:3] == ("r", "l", "t")
        else []
    )
    for index, name in enumerate(header):
        known = names.meaning(name) or names.meaning(_ASIDE.sub("", name))
        if known is not None and known[0] not in (Meaning.MEASURE, Meaning.TOTAL):
            fields.append(Field(index, known[0], name, known[1], known[2]))
    return tuple(fields), zlib.crc32("\0".join(header).encode("utf-8", "replace"))
