"""Tables in a stream: which line names the columns, and what a row under it holds."""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache

from processors.grammar import names, stamps, table
from processors.grammar.extractor import DIGITS, Reading
from processors.grammar.names import Meaning
from processors.grammar.prefix import clean, peel
from processors.grammar.slots import Plan, Slot
from processors.view import OTHER, ChunkView

from .state import TrackState

_TABLE_STARTS = re.compile(r"(?:^|(?<=[^p]))p")
_HEADERS = 8
"""Newest lines of a chunk among which a header is remembered for rows in the next chunks."""
_MONITOR = (("l", Meaning.DONE), ("t", Meaning.CLOCK))
"""Columns of the episode monitors that Gym and Stable-Baselines3 write: length in steps, seconds since the start."""
_HEADER_LENGTH = 400
_OF_A_ROW = frozenset("0123456789+-. |\t\x1b")
_NOT_OF_A_ROW = re.compile("[B-DG-HJ-MO-RT-Zb-dgj-lo-rt-z]")
"""Letters that no number, no unit of time and no date in a row has."""


class Headers:
    """The headers of a chunk, looked for when a line asks for the one above it.

    Args:
        view: The chunk.
        before: The last header before it.
    """

    def __init__(self, view: ChunkView, before: str) -> None:
        self._view = view
        self._before = before
        self._found: list[tuple[int, str]] | None = None

    def above(self, place: int) -> str:
        """Return the last header above line `place`; empty without one."""
        if self._found is None:
            lines, classes = self._view.lines, self._view.classes
            others = (index for index, letter in enumerate(classes) if letter == OTHER)
            self._found = [(index, lines[index]) for index in others if _is_header(lines[index])]
        return next((header for index, header in reversed(self._found) if index < place), self._before)


def is_mixed(line: str) -> bool:
    """Return whether `line` may be a row whose cells are not all numbers: a bar, or cells between tabs."""
    return "\t" in line or "%" in line


def find_header(view: ChunkView, state: TrackState) -> None:
    """Keep the names of columns: those that stand right above rows, or the last ones before where these do not fit."""
    lines = view.lines
    starts = [found.start() for found in _TABLE_STARTS.finditer(view.classes)]
    for start in [start for start in starts if lines[start][:1] in _OF_A_ROW]:
        _look_above(view, state, start)
    others: list[str] = []
    place = view.classes.rfind(OTHER)
    while place >= 0 and len(others) < _HEADERS:
        if len(lines[place]) <= _HEADER_LENGTH:
            others.append(lines[place])
        place = view.classes.rfind(OTHER, 0, place)
    if newest := _last_header(others[::-1]):
        state.pending = newest


def _look_above(view: ChunkView, state: TrackState, start: int) -> None:
    row = view.lines[start]
    if _NOT_OF_A_ROW.search(row if row[0] != "\x1b" else clean(row)):
        return
    peeled = peel(row)
    width = len(table.cells(peeled.body)) + peeled.cell
    above = view.lines[max(0, start - 2) : start][::-1]
    header = _last_header([line for line in above[:1] if not table.is_separator(line)] or above[1:])
    if not header and len(state.header) != width:
        header = _last_header(view.lines[:start]) or state.pending
    elif not header and start <= 1:
        header = state.pending if all(map(table.is_separator, above)) else ""
    cells = table.cells(peel(header).body) if header else []
    if len(cells) == width:
        state.header = cells


def _last_header(lines: Sequence[str]) -> str:
    """Return the last of `lines` that names columns; empty without one."""
    return next((line for line in reversed(lines) if _is_header(line)), "")


def _is_header(line: str) -> bool:
    named = (
        "oss" in line or "LOSS" in line or "poch" in line or "ter" in line or "tep" in line or line.startswith("r,l,t")
    )
    return named and len(line) <= _HEADER_LENGTH and _names_columns(line.translate(DIGITS))


@lru_cache(maxsize=4096)
def _names_columns(template: str) -> bool:
    """Return whether the lines of `template` name columns: which digits they hold makes no difference."""
    return table.is_header(peel(template).body)


def row(line: str, header: Sequence[str]) -> Reading:
    """Return the fields of a table's row."""
    slots, shape = columns(tuple(header))
    if not slots:
        return Reading(Plan(()), [], None)
    peeled = peel(line)
    cells = [peeled.stamp, *table.cells(peeled.body)] if peeled.cell else table.cells(peeled.body)
    if len(cells) != len(header):
        return Reading(Plan(()), [], None)
    read_off = [(slot, table.value(cells[slot.index])) for slot in slots]
    values = [(slot, value * slot.scale) for slot, value in read_off if value is not None]
    return Reading(Plan(slots, shape=shape), values, stamps.seconds(peeled.stamp) if peeled.cell else None)


def under(line: str, header: str) -> list[tuple[Slot, float]]:
    """Return the losses of a line that stands under a table's `header`, though not all of its cells are numbers."""
    names = table.cells(peel(header).body)
    found = table.numbers_under(clean(line), len(names))
    slots = (slot for slot in columns(tuple(names))[0] if slot.meaning is Meaning.LOSS)
    return [(slot, found[slot.index]) for slot in slots if slot.index in found]


@lru_cache(maxsize=256)
def columns(header: tuple[str, ...]) -> tuple[tuple[Slot, ...], int]:
    """Return what the columns mean, where that is known, and a checksum of their names."""
    slots = (
        [Slot(header.index(name), meaning, name) for name, meaning in _MONITOR] if header[:3] == ("r", "l", "t") else []
    )
    for index, name in enumerate(header):
        known = names.meaning(name)
        if known is not None and known[0] not in (Meaning.MEASURE, Meaning.TOTAL):
            slots.append(Slot(index, known[0], name, known[1], known[2]))
    return tuple(slots), zlib.crc32("\0".join(header).encode("utf-8", "replace"))
