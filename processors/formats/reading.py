"""Readings of a known format: step, loss, speed and others, each with the result of its checks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from schedmate_records import ColumnRole, Reports

from ..grammar import stamps
from ..grammar.units import STEPS
from .checks import (
    Standing,
    compare_with_clock,
    contradicts_name,
    contradicts_unit,
    contradicts_values,
    is_named,
    typical,
)
from .compiled import CompiledColumn, CompiledFormat
from .state import FormatRow, FormatState

_CLAIMS = 2
"""Number of plausible columns from which a format without contradictions counts as credible."""
_NAMED = 3
"""Number of columns whose known names agree with their roles from which a format without contradictions counts as proven."""
_LEAST_INTERVALS = 2
"""Intervals between reports that measure the time of a step."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A value that a format states.

    Attributes:
        value: The newest value.
        standing: What the lines show about it.
        column: The column that holds it; None for a measured time.
        line: Number of the newest line that printed it.
        named: The name before the number agrees with the role, as far as the rules know names.
        until: Line number up to which no newer report was due; a newer report of the rules is of something else, or the column stopped.
    """

    value: float
    standing: Standing
    column: CompiledColumn | None = None
    line: int = 0
    named: bool = False
    until: int = 0


@dataclass
class FormatReading:
    """Readings of a format from the newest lines of its stream.

    Attributes:
        trains: Whether the format reports a training.
        by_person: Whether a person stated the format.
        credible: Whether the lines contradict none of its columns.
        proven: Whether a clock or several known names confirm it: then it also decides about numbers with unknown names.
        rows: Number of rows that it rests on.
        values: Claims by role: step, epoch, totals, loss.
        step_time: Seconds per step.
        pace: Seconds per count of its counter of steps by a clock; null without a clock.
        throughput: Samples or tokens per second.
        unit: Unit of the throughput.
        newest: Role and newest number of each column.
        evaluated: Line number of the newest report of an evaluation.
        contradictions: Why columns were dropped, for people.
    """

    trains: bool
    by_person: bool
    credible: bool = False
    proven: bool = False
    rows: int = 0
    values: dict[ColumnRole, Claim] = field(default_factory=dict)
    step_time: Claim | None = None
    pace: float | None = None
    throughput: Claim | None = None
    unit: str = ""
    newest: list[tuple[ColumnRole, float | None]] = field(default_factory=list)
    evaluated: int = 0
    contradictions: list[str] = field(default_factory=list)

    @property
    def step(self) -> Claim | None:
        """The step of the run, else the step of the epoch."""
        return self.values.get(ColumnRole.STEP) or self.values.get(ColumnRole.EPOCH_STEP)


@dataclass(frozen=True, slots=True)
class _Series:
    """The rows of a column, oldest first, and its numbers."""

    column: CompiledColumn
    rows: Sequence[FormatRow]
    values: Sequence[float | None]

    def finite(self) -> list[float]:
        return [value for value in self.values if value is not None]


def read_format(known: CompiledFormat, state: FormatState) -> FormatReading:
    """Return what `known` reads from the rows of a stream."""
    reading = FormatReading(known.record.training, known.record.person, evaluated=state.evaluated)
    reading.contradictions += known.contradictions
    series = _series(known, state)
    reading.rows = max((len(each.rows) for each in series), default=0)
    kept, plausible = [], 0
    clocked = _Clocked(series)
    for each in series:
        reason = contradicts_values(each.column, each.values) or (
            "" if known.record.person else contradicts_unit(each.column)
        )
        if not reason and not known.record.person and not clocked.confirms(each):
            reason = contradicts_name(each.column)
        if reason:
            reading.contradictions.append(f"{each.column.role} {each.column.name!r}: {reason}")
        else:
            kept.append(each)
            reading.newest.append((each.column.role, each.values[-1]))
            plausible += len(each.rows) > 1 or is_named(each.column)
    reading.credible = plausible >= min(_CLAIMS, len(series)) and not reading.contradictions
    named = sum(is_named(each.column) for each in kept)
    timed = any(clocked.confirms(each) for each in kept)
    reading.proven = reading.credible and (timed or named >= _NAMED)
    if known.record.person:
        reading.credible = reading.proven = plausible > 0
    _add_values(reading, kept)
    _add_speed(reading, kept)
    return reading


class _Clocked:
    """Measurements of a clock over the steps of a format, which test the columns with times.

    Args:
        series: The columns of the format.
    """

    def __init__(self, series: Sequence[_Series]) -> None:
        self.steps = _counter(series)
        elapsed = next((each for each in series if each.column.role is ColumnRole.ELAPSED), None)
        self.measured = _measured(self.steps, elapsed) if self.steps else None

    def seconds(self, series: _Series) -> float | None:
        """Return the seconds per step that a column states; None where it states none."""
        values = [value for value in series.finite() if value > 0]
        return _seconds_per_step(series.column, typical(values), self.steps) if values else None

    def confirms(self, series: _Series) -> bool:
        """Return whether the clock confirms the time that a column states, whatever its name."""
        seconds = self.seconds(series)
        return seconds is not None and compare_with_clock(seconds, self.measured) is Standing.CONFIRMED


def _series(known: CompiledFormat, state: FormatState) -> list[_Series]:
    """Return the columns of the training templates with their rows; of several ranks those of the one that printed last.

    Columns of one name and role in several templates are one series: a bar prints `s/it` for slow steps and `it/s` for others.
    """
    newest = max((rows[-1] for rows in state.rows.values() if rows), key=lambda row: row.order, default=None)
    merged: dict[tuple[object, ...], tuple[CompiledColumn, list[tuple[FormatRow, float | None]]]] = {}
    for text, template in known.templates.items():
        rows = [row for row in state.rows.get(text, ()) if newest is not None and row.rank == newest.rank]
        if not rows or template.reports is not Reports.TRAINING:
            continue
        for place, column in enumerate(template.columns):
            key = (column.role, column.name, column.scale, column.counts, column.steps)
            _, found = merged.setdefault(key, (column, []))
            found += [(row, row.values[place] if place < len(row.values) else None) for row in rows]
    series = []
    for column, found in merged.values():
        found.sort(key=lambda each: each[0].order)
        series.append(_Series(column, [row for row, _ in found], [value for _, value in found]))
    return series


_SINGLE = (
    ColumnRole.STEP,
    ColumnRole.STEP_TOTAL,
    ColumnRole.EPOCH_STEP,
    ColumnRole.EPOCH_STEP_TOTAL,
    ColumnRole.EPOCH,
    ColumnRole.EPOCH_TOTAL,
    ColumnRole.LOSS,
)


_COUNTERS = (ColumnRole.STEP, ColumnRole.EPOCH_STEP)
_REPORTED = 3
"""Reports from which a counter that only one line holds is not that of the training."""


def _add_values(reading: FormatReading, series: Sequence[_Series]) -> None:
    """Add the newest value of each role; of several templates that hold one, that of the template printed last counts."""
    for role in _SINGLE:
        held = [each for each in series if each.column.role is role]
        if not held:
            continue
        often = [each for each in held if 2 * len(each.rows) >= max(len(other.rows) for other in held)]
        best = max(often, key=lambda each: each.rows[-1].order)
        if role in _COUNTERS and len(best.rows) == 1 and reading.rows >= _REPORTED:
            continue  # a bar that was printed once among many reports counts something else
        if (value := best.values[-1]) is not None:
            varies = len(set(best.values)) > 1
            standing = Standing.PLAUSIBLE if varies else Standing.UNTESTED
            reading.values[role] = Claim(
                value, standing, best.column, best.rows[-1].line, is_named(best.column), until=_end_line(best.rows)
            )


def _end_line(rows: Sequence[FormatRow]) -> int:
    gaps = [later.line - earlier.line for earlier, later in pairwise(rows)]
    gap = int(typical(gaps)) if gaps else 1
    return rows[-1].line + 2 * gap + 2 if gap else rows[-1].line  # a redrawn line has no gaps


def _add_speed(reading: FormatReading, series: Sequence[_Series]) -> None:
    clocked = _Clocked(series)
    steps, measured = clocked.steps, clocked.measured
    reading.pace = measured
    claims = []
    for each in series:
        values = [value for value in each.finite() if value > 0]
        seconds = clocked.seconds(each)
        if seconds is not None:
            standing = compare_with_clock(seconds, measured)
            claims.append(Claim(seconds, standing, each.column, each.rows[-1].line, is_named(each.column)))
        elif values and each.column.role is ColumnRole.RATE and each.column.counts not in ("", STEPS):
            rate = typical(values) * each.column.scale
            claim = Claim(rate, Standing.UNTESTED, each.column, each.rows[-1].line, is_named(each.column))
            if reading.throughput is None or claim.line > reading.throughput.line:
                reading.throughput, reading.unit = claim, each.column.counts
    viable = [each for each in claims if each.standing is not Standing.CONTRADICTED]
    if len(viable) < len(claims):
        reading.contradictions.append("step time: the clock contradicts it")
    if viable:
        reading.step_time = max(viable, key=lambda each: (each.standing.value, each.named, each.line))
    elif measured is not None and not claims:
        reading.step_time = Claim(measured, Standing.CONFIRMED, named=steps is not None and is_named(steps.column))


def _counter(series: Sequence[_Series]) -> _Series | None:
    """Return the counter of steps that measures time: that of the run, else that of the epoch."""
    for role in (ColumnRole.STEP, ColumnRole.EPOCH_STEP):
        held = [each for each in series if each.column.role is role]
        if held:
            return max(held, key=lambda each: len(each.rows))
    return None


def _seconds_per_step(column: CompiledColumn, value: float, steps: _Series | None) -> float | None:
    """Return the seconds per step that a column states; None for a column that states none."""
    if column.role is ColumnRole.STEP_TIME:
        return value * column.scale / column.steps
    if column.role is ColumnRole.REPORT_TIME:
        made = _steps_per_report(steps) if steps else None
        return value * column.scale / made if made else None
    if column.role is ColumnRole.RATE and column.counts == STEPS:
        return 1 / (value * column.scale)
    if column.role is ColumnRole.RATE and not column.counts:
        return value * column.scale
    return None


def _steps_per_report(steps: _Series) -> float | None:
    made = [later - earlier for earlier, later in pairwise(steps.finite()) if later > earlier]
    return typical(made) if made else None


def _measured(steps: _Series, elapsed: _Series | None) -> float | None:
    """Return the seconds per step by the times printed on the lines, else by their arrival, else by the elapsed time that they state."""
    clocks: list[list[float | None]] = [[row.stamp for row in steps.rows], [row.arrival for row in steps.rows]]
    if (
        elapsed is not None
        and len(elapsed.rows) == len(steps.rows)
        and not (contradicts_name(elapsed.column) or contradicts_unit(elapsed.column))
    ):
        clocks.append([value if value is None else value * elapsed.column.scale for value in elapsed.values])
    for clock in clocks:
        if (found := _pace(steps.values, clock)) is not None:
            return found
    return None


def _pace(steps: Sequence[float | None], clock: Sequence[float | None]) -> float | None:
    """Return the seconds per step by a clock. Of lines that came at one moment the last one counts."""
    points: list[tuple[float, float]] = []
    for step, time in zip(steps, clock, strict=True):
        if step is None or time is None:
            return None
        if points and points[-1][1] == time:
            points.pop()
        points.append((step, time))
    spans = [(later - earlier, stamps.difference(begin, end)) for (earlier, begin), (later, end) in pairwise(points)]
    spans = [(made, passed) for made, passed in spans if made > 0 and passed > 0]
    if len(spans) < _LEAST_INTERVALS or 2 * len(spans) < len(points) - 1:
        return None
    if all(time == int(time) for _, time in points):  # whole seconds: single intervals are too coarse
        return sum(passed for _, passed in spans) / sum(made for made, _ in spans)
    return typical([passed / made for made, passed in spans])
