"""The newest rows of the templates of one stream: what the solver sees, bounded, and the same however lines are cut into chunks."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import msgspec

from ..grammar import table
from ..grammar.prefix import clean, strip_prefix
from .series import LineTemplate, Row, SeriesReader, TemplateSeries

Above = list[str]
"""The last lines that hold no row, oldest first."""


def names_above(lines: Sequence[str], columns: int) -> list[str]:
    """Return the names of so many columns in the last of `lines`, or in the one before a separator; empty where they do not fit."""
    bodies = (strip_prefix(clean(line)).body for line in reversed(lines))
    cells = next((table.cells(body) for body in bodies if not table.is_separator(body)), [])
    named = all(any(map(str.isalpha, cell)) for cell in cells)
    return cells if named and len(cells) == columns > 1 else []


TEMPLATES, ROWS, COLUMNS, DEAD = 16, 20, 20, 128
FIRST, OFTEN, SELDOM = 8, 1.8, 4096
"""Rows after which the solver looks first; by how many times as many it looks again, and after how many more at the latest."""
_LINE = 400
"""Characters of a line. Longer ones are seldom reports, and would fill the state."""
_RARE = 3
"""Rows below which a template gives way to a newer one first."""
_TRIED = 8
"""Rows after which a template whose numbers do not vary is left alone."""


class KeptRow(msgspec.Struct, array_like=True):
    """A row: its line number, arrival and printed time in seconds (null without one), rank, and its numbers (null for `nan`)."""

    line: int
    arrival: float
    stamp: float | None
    rank: int | None
    values: list[float | None]


class KeptTemplate(msgspec.Struct, array_like=True):
    """The newest rows of a template, oldest first. `text` is one of its lines; `header` names its columns."""

    text: str
    key: int
    header: list[str]
    count: int
    rows: list[KeptRow]


class Chosen(msgspec.Struct, array_like=True):
    """Columns that a role was given to.

    Attributes:
        columns: Key of the template and index of each.
        end: The end that they count to, as printed; empty where they count to none.
        score: Log odds.
        margin: Lead over the columns with another value, in log odds.
        bar: They stand in a bar.
    """

    columns: list[tuple[int, int]]
    end: str
    score: float
    margin: float
    bar: bool = False


class KeptSeries(msgspec.Struct):
    """The newest rows of one stream.

    Attributes:
        templates: Those whose numbers vary, the one printed last at the end.
        dead: Keys of those whose numbers do not.
        above: The last lines without a row, of which one may name the columns of a table.
        header: Names of the columns of the table under way.
        seen: Rows taken in.
        due: Rows after which the solver looks at them again.
        step: The columns of the training's step; null where none is likely enough.
        loss: Those of its loss.
        no_loss: Several columns have the name of a loss, and none is likely enough to be the loss.
        settled: Reports state step, speed and loss: nothing is kept any more.
        idle: Lines to skip, because those before added nothing.
        rounds: How often that was so.
    """

    templates: list[KeptTemplate] = []
    dead: list[int] = []
    above: Above = []
    header: list[str] = []
    seen: int = 0
    due: int = FIRST
    step: Chosen | None = None
    loss: Chosen | None = None
    no_loss: bool = False
    settled: bool = False
    idle: int = 0
    rounds: int = 0


def observe(
    lines: Iterable[tuple[int, str, float]],
    reader: SeriesReader,
    state: KeptSeries,
    solve: Callable[[KeptSeries], None] | None = None,
) -> bool:
    """Take in lines with their numbers and arrivals; return whether one of them holds numbers that may vary.

    `solve` is called now and then, after so many rows: what it finds does not depend on how lines are cut into chunks.
    """
    dead, has_numbers = set(state.dead), False
    by_key = {kept.key: kept for kept in state.templates}
    for number, line, arrival in lines:
        if not line:
            continue  # what is over the budget is blank
        row = reader.read(line, number, arrival, state.header)
        if row is None:
            state.above = [*state.above, line[:_LINE]][-2:]
            continue
        if row.template.bare and not row.template.header:
            state.header = names_above(state.above, len(row.values)) or state.header
            row = reader.read(line, number, arrival, state.header) or row
        template = row.template
        if template.key in dead or len(line) > _LINE:
            continue
        has_numbers = True
        _take(row, line, state, by_key)
        if not _varies(by_key[template.key]):
            dead.add(template.key)
            state.dead = [*state.dead, template.key][-DEAD:]
            state.templates.remove(by_key.pop(template.key))
        elif len(state.templates) > TEMPLATES:
            rare = next((each for each in state.templates[:-1] if each.count < _RARE), state.templates[0])
            state.templates.remove(rare)
            del by_key[rare.key]
        if solve is not None and state.seen >= state.due:
            state.due = min(math.ceil(state.seen * OFTEN), state.seen + SELDOM)
            solve(state)
    return has_numbers


def _take(row: Row, line: str, state: KeptSeries, by_key: dict[int, KeptTemplate]) -> None:
    template = row.template
    kept = by_key.get(template.key)
    if kept is None:
        kept = by_key[template.key] = KeptTemplate(line, template.key, list(template.header), 0, [])
    elif state.templates[-1] is not kept:
        state.templates.remove(kept)
    if not state.templates or state.templates[-1] is not kept:
        state.templates.append(kept)
    kept.count += 1
    values = _finite(row.values)
    if kept.rows and (len(values) != len(kept.rows[-1].values) or _is_of_another_rank(kept.rows, row.rank, values)):
        return  # braces in the text may look like a number's place
    state.seen += 1
    kept.rows.append(KeptRow(row.line, row.arrival, row.stamp, row.rank, values))
    del kept.rows[:-ROWS]


def _is_of_another_rank(rows: Sequence[KeptRow], rank: int | None, values: list[float | None]) -> bool:
    """Return whether another rank prints the same numbers. Without a launcher's prefix the first number may be the rank.

    The first number is that of a rank, not a counter, where another number counts.
    """
    last = rows[-1]
    if rank != last.rank:
        return values == last.values
    if len(values) < 2 or values[1:] != last.values[1:] or values[0] == last.values[0]:
        return False
    return any(_grows([row.values[column] for row in rows]) for column in range(1, len(values)))


def _grows(values: Sequence[float | None]) -> bool:
    """Return whether whole numbers grow and never fall."""
    known = [value for value in values if value is not None and value.is_integer()]
    return len(known) == len(values) and known[-1] > known[0] and all(a <= b for a, b in pairwise(known))


def _finite(values: Sequence[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values[:COLUMNS]]


def _varies(kept: KeptTemplate) -> bool:
    return len(kept.rows) < _TRIED or any(row.values != kept.rows[0].values for row in kept.rows)


def series_of(reader: SeriesReader, state: KeptSeries) -> list[TemplateSeries]:
    """Return the series of what is kept, the template printed last at the end."""
    read = [(kept, reader.read(kept.text, 0, 0.0, kept.header)) for kept in state.templates]
    return [_series(kept, row.template) for kept, row in read if row is not None and row.template.key == kept.key]


def _series(kept: KeptTemplate, template: LineTemplate) -> TemplateSeries:
    return TemplateSeries(
        template.key,
        template.text,
        template.columns([each.values for each in kept.rows], COLUMNS),
        tuple(each.line for each in kept.rows),
        tuple(each.arrival for each in kept.rows),
        tuple(each.stamp for each in kept.rows),
        tuple(each.rank for each in kept.rows),
        kept.count,
    )
