"""The step of a log whose reports name none: among all numbers that its lines print, the counter that agrees best.

What is kept of a stream is bounded: the newest rows of a few templates whose whole numbers grow. A template whose numbers do not grow is
left alone from then on. Lines are taken in one by one, so that what is found does not depend on how they are cut into chunks.
"""

import math
from collections.abc import Iterable
from itertools import islice, pairwise

import msgspec

from .names_prior import NamesPrior
from .series import Column, LineTemplate, Row, SeriesReader, TemplateSeries
from .training import LEAST, MARGIN, find

TEMPLATES, ROWS, DEAD = 6, 16, 64
_LINE, _COLUMNS = 240, 8
_RARE = 3
"""Rows below which a template gives way to a newer one first."""
_TRIED = 8
"""Rows after which a template whose numbers do not grow is left alone."""


class KeptRow(msgspec.Struct, array_like=True):
    """A row: its line number, arrival and printed time in seconds (null without one), and its numbers (null for `nan`)."""

    line: int
    arrival: float
    stamp: float | None
    values: list[float | None]


class KeptTemplate(msgspec.Struct, array_like=True):
    """The newest rows of a template, oldest first. `text` is a line of it, which tells it again."""

    text: str
    key: int
    count: int
    rows: list[KeptRow]


class SearchState(msgspec.Struct):
    """What is kept of one stream.

    Attributes:
        templates: Those that may hold a counter, the one printed last at the end.
        dead: Keys of those that hold none.
    """

    templates: list[KeptTemplate] = []
    dead: list[int] = []


class CounterValue(msgspec.Struct, frozen=True):
    """A value of the counter, where it was printed, when it arrived and the time printed beside it (null without one)."""

    step: int
    line: int
    arrival: float
    stamp: float | None


def observe(lines: Iterable[tuple[int, str, float]], reader: SeriesReader, state: SearchState) -> bool:
    """Take in lines with their numbers and arrivals; return whether one of them may count."""
    dead, told = set(state.dead), False
    by_key = {kept.key: kept for kept in state.templates}
    for number, line, arrival in lines:
        row = reader.read(line, number, arrival)
        if row is None or row.template.key in dead or not any(map(str.isalpha, row.template.text)):
            continue  # numbers alone say nothing
        template, told = row.template, True
        kept = by_key.get(template.key)
        if kept is None:
            kept = by_key[template.key] = KeptTemplate(line[:_LINE], template.key, 0, [])
        else:
            state.templates.remove(kept)
        state.templates.append(kept)
        kept.count += 1
        kept.rows = [*kept.rows, KeptRow(number, arrival, row.stamp, _finite(row.values))][-ROWS:]
        if len(line) > _LINE or (kept.count >= _TRIED and not _counts(kept, template)):
            dead.add(template.key)
            state.dead = [*state.dead, template.key][-DEAD:]
            state.templates.remove(by_key.pop(template.key))
        elif len(state.templates) > TEMPLATES:
            rare = next((each for each in state.templates[:-1] if each.count < _RARE), state.templates[0])
            state.templates.remove(rare)
            del by_key[rare.key]
    return told


def _finite(values: Iterable[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in islice(values, _COLUMNS)]


def _counts(kept: KeptTemplate, template: LineTemplate) -> bool:
    """Return whether a whole number of the template grows more often than it falls."""
    for place in range(min(len(template.places), _COLUMNS)):
        if template.decimals[place] or place == template.since_1970:
            continue
        values = [value for row in kept.rows if (value := row.values[place]) is not None]
        moves = [later - earlier for earlier, later in pairwise(values)]
        if sum(move > 0 for move in moves) > sum(move < 0 for move in moves):
            return True
    return False


_PRIOR = NamesPrior()


def search(reader: SeriesReader, state: SearchState) -> list[CounterValue]:
    """Return the newest values of the step, oldest first; none where no counter is likely enough, or several are."""
    rows = [(kept, reader.read(kept.text, 0, 0.0)) for kept in state.templates]
    known = [(kept, row) for kept, row in rows if row is not None]
    series = [_series(kept, row) for kept, row in known]
    found = find(series, _PRIOR).step
    if found is None or found.margin < MARGIN or found.best.score < LEAST:
        return []
    kept = known[found.best.template][0]
    values = [(row.values[found.best.column], row) for row in kept.rows]
    told = [CounterValue(int(value), row.line, row.arrival, row.stamp) for value, row in values if value is not None]
    if told[-1].step != found.best.value:  # told by another template that prints alike
        told.append(CounterValue(int(found.best.value), found.best.place, told[-1].arrival, told[-1].stamp))
    return told


def _series(kept: KeptTemplate, row: Row) -> TemplateSeries:
    template = row.template
    columns = tuple(
        Column(
            index,
            before,
            after,
            tuple(math.nan if (value := each.values[index]) is None else value for each in kept.rows),
            template.decimals[index],
            template.durations[index],
        )
        for index, (before, after) in enumerate(template.around[:_COLUMNS])
    )
    return TemplateSeries(
        template.key,
        template.text,
        columns,
        tuple(each.line for each in kept.rows),
        tuple(each.arrival for each in kept.rows),
        tuple(each.stamp for each in kept.rows),
        (None,) * len(kept.rows),
        kept.count,
    )
