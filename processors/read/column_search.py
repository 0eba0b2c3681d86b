"""Finds the columns of the step and the loss of a stream among all numbers that its lines print, and their newest values."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import msgspec

from ..grammar import names
from ..grammar.fields import name_before
from .assignment import ColumnInRole, SeriesRoles, assign, decided
from .kept import Chosen, KeptRow, KeptSeries, observe, series_of
from .proposer.linear import LinearProposer
from .roles import Proposer, Role
from .series import BAR, SeriesReader, TemplateSeries

LEAST_STEP, LEAST_LOSS = 2.0, 1.5
MARGIN_STEP, MARGIN_LOSS = 0.7, 1.5
"""Minimum log odds of the best columns, and their minimum lead over columns with other values. Below them the number is null."""


class CounterValue(msgspec.Struct, frozen=True):
    """A value of the counter, its line, its arrival and the time printed in that line (null without one)."""

    step: int
    line: int
    arrival: float
    stamp: float | None


class LossValue(msgspec.Struct, frozen=True):
    """A value of the loss (null for one that is no number), and the line that printed it."""

    loss: float | None
    line: int


class WeighedColumn(msgspec.Struct, frozen=True):
    """A column that may be the step or the loss.

    Attributes:
        role: Which of them.
        name: Name before its number in the newest line.
        value: Its newest number.
        score: Log odds.
        likely: It is the one that was chosen.
    """

    role: Role
    name: str
    value: float
    score: float
    likely: bool


class ColumnSearch:
    """Searches the columns of streams. The result is kept in the stream's state.

    Args:
        proposer: Proposes the roles of columns; the one that ships where not given.
    """

    def __init__(self, proposer: Proposer | None = None) -> None:
        self._proposer = proposer
        self.reader = SeriesReader()

    def observe(self, lines: Iterable[tuple[int, str, float]], state: KeptSeries) -> bool:
        """Read lines with their numbers and arrivals, and search the columns again where that is due."""
        return observe(lines, self.reader, state, self._solve)

    def weighed(self, state: KeptSeries, most: int = 2) -> list[WeighedColumn]:
        """Return the likeliest columns of each role, `most` of each: the one that is likely enough, if any, and those that lost."""
        often, found = self._assign(state)
        rows = [
            (Role.STEP, found.steps, state.step and state.step.columns),
            (Role.LOSS, found.losses, state.loss and state.loss.columns),
        ]
        return [
            WeighedColumn(
                role,
                name_before(often[each.template].columns[each.column].before),
                each.value,
                round(each.score, 1),
                taken == list(each.columns),
            )
            for role, candidates, taken in rows
            for each in candidates[:most]
        ]

    def _assign(self, state: KeptSeries) -> tuple[list[TemplateSeries], SeriesRoles]:
        often = [each for each in series_of(self.reader, state) if len(each.places) > 1]
        return often, assign(often, self._proposer or shipped()) if often else SeriesRoles()

    def _solve(self, state: KeptSeries) -> None:
        often, found = self._assign(state)
        state.step = _chosen(often, found.steps, LEAST_STEP, MARGIN_STEP)
        state.loss = _chosen(often, found.losses, LEAST_LOSS, MARGIN_LOSS)
        known = [names.meaning(name_before(column.before)) for each in often for column in each.columns]
        named = sum(meant is not None and meant[0] is names.Meaning.LOSS for meant in known)
        state.no_loss = named > 1 and (not found.losses or found.losses[0].score < LEAST_LOSS)


@cache
def shipped() -> LinearProposer:
    """Return the proposer that ships; read when it is needed first."""
    return LinearProposer.load()


def _chosen(
    series: Sequence[TemplateSeries], candidates: Sequence[ColumnInRole], least: float, margin: float
) -> Chosen | None:
    found = decided(candidates)
    if found is None or found.best.score < least or found.margin < margin:
        return None
    best = found.best
    bar = BAR in series[best.template].text
    return Chosen(list(best.columns), best.end, round(best.score, 3), round(found.margin, 3), bar)


def steps(state: KeptSeries) -> list[CounterValue]:
    """Return the newest values of the step, oldest first; none where no counter is likely enough, or several are."""
    values = [
        CounterValue(int(value), row.line, row.arrival, row.stamp)
        for row, value in _values(state, state.step)
        if value is not None
    ]
    return sorted(values, key=lambda each: each.line)


def losses(state: KeptSeries) -> list[LossValue]:
    """Return the newest values of the loss, oldest first; none where no column is likely enough, or several are."""
    values = [LossValue(value, row.line) for row, value in _values(state, state.loss)]
    return sorted(values, key=lambda each: each.line)


def _values(state: KeptSeries, chosen: Chosen | None) -> Iterator[tuple[KeptRow, float | None]]:
    """Yield the rows of the chosen columns, with their values; of several ranks only those of the one that printed last."""
    by_key = {kept.key: kept.rows for kept in state.templates}
    places = [(by_key[key], column) for key, column in (chosen.columns if chosen else ()) if key in by_key]
    newest = max((rows[-1] for rows, _ in places), key=lambda row: row.line, default=None)
    for rows, column in places:
        for row in rows:
            if newest is not None and row.rank == newest.rank and chosen is not None and _ends(row, column, chosen.end):
                yield row, row.values[column]


def _ends(row: KeptRow, column: int, end: str) -> bool:
    return not end or (
        len(row.values) > column + 1 and row.values[column + 1] is not None and f"{row.values[column + 1]:g}" == end
    )
