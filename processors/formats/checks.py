"""Checks of the columns of a format against its lines: counters grow, totals stay, values are finite, times agree with clocks."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from itertools import pairwise

from schedmate_records import ColumnRole

from ..grammar import names, units
from ..grammar.fields import name_before
from ..grammar.names import Meaning
from ..read.robust import median
from .compiled import CompiledColumn
from .units import TIMES


class Standing(Enum):
    """Result of checking a claim against the lines."""

    CONTRADICTED = auto()
    UNTESTED = auto()
    PLAUSIBLE = auto()
    CONFIRMED = auto()


_MOSTLY = 0.8
"""Share of the pairs of lines in which a counter must grow: a few lines repeat a step, or belong to a second start."""
_LARGEST_COUNTER = 1e15
"""No training has more steps; a larger number is an id."""
_LARGEST_LEARNING_RATE = 100.0
"""Maximum learning rate. A larger number is another quantity: rates in use are mostly below 1."""
AGREES = (0.7, 1.35)
"""Stated over measured seconds per step within which a time is confirmed."""
_LONGEST = 1.6
"""Stated over measured seconds per step above which a time is contradicted: a step is not longer than the time between reports."""

_S, _R = ColumnRole, Meaning
_ALLOWED: Mapping[ColumnRole, frozenset[Meaning]] = {
    _S.STEP: frozenset({_R.STEP}),
    _S.EPOCH_STEP: frozenset({_R.STEP}),
    _S.STEP_TOTAL: frozenset({_R.TOTAL, _R.STEP}),
    _S.EPOCH_STEP_TOTAL: frozenset({_R.TOTAL, _R.STEP}),
    _S.EPOCH: frozenset({_R.EPOCH, _R.STEP}),
    _S.EPOCH_TOTAL: frozenset({_R.TOTAL, _R.EPOCH}),
    _S.LOSS: frozenset({_R.LOSS, _R.MEASURE}),
    _S.LOSS_PART: frozenset({_R.LOSS, _R.MEASURE}),
    _S.STEP_TIME: frozenset({_R.STEP_TIME, _R.TIME, _R.SPAN, _R.CLOCK, _R.RATE}),
    _S.REPORT_TIME: frozenset({_R.STEP_TIME, _R.TIME, _R.SPAN, _R.CLOCK}),
    _S.RATE: frozenset({_R.RATE, _R.PERIOD, _R.STEP_TIME}),
    _S.ELAPSED: frozenset({_R.CLOCK, _R.TIME, _R.SPAN}),
    _S.SAMPLES: frozenset({_R.COUNT, _R.STEP, _R.DONE, _R.MEASURE}),
    _S.TOKENS: frozenset({_R.COUNT, _R.STEP, _R.DONE, _R.MEASURE}),
    _S.LEARNING_RATE: frozenset({_R.MEASURE}),
}
"""Meanings of a known name that agree with a role. A number without a known name may have any role."""

_SPEED_WORD = re.compile(r"(?i)throughput|speed|/s\b|per.?sec|/ ?sec|\b[fi]ps\b")


def contradicts_name(column: CompiledColumn) -> str:
    """Return how the words around a number contradict its role; empty where they do not."""
    role = column.role
    if role is ColumnRole.RATE and _SPEED_WORD.search(column.template):
        pass  # the word may stand further away than the name: `"key": "throughput", "value": 512`
    elif column.rule is not None and column.rule.meaning not in _ALLOWED[role]:
        return f"its name means {column.rule.meaning.name.lower()}"
    if role in (ColumnRole.LOSS, ColumnRole.LOSS_PART) and (found := _contradicts_loss(column)):
        return found
    return ""


def contradicts_unit(column: CompiledColumn) -> str:
    """Return how the unit that is printed with a number contradicts that of a column; empty where it does not."""
    role = column.role
    if role in TIMES or (role is ColumnRole.RATE and not column.counts):
        printed = units.time_after(column.after) or units.period(column.after) or units.time_in(column.name)
        printed = 1.0 if column.is_duration else printed
        if printed is not None and not math.isclose(printed, column.scale):
            return "another unit is printed"
    if role is ColumnRole.RATE and column.counts:
        stated = units.rate(column.name) or units.rate(column.after)
        if stated is not None and (stated.unit.split("/")[0] != column.counts.split("/")[0]):
            return "another unit is printed"
    return ""


def _contradicts_loss(column: CompiledColumn) -> str:
    if names.is_no_loss(column.name):
        return f"{column.name!r} is not a loss"
    if column.after.lstrip().startswith("%"):
        return "a loss is not a percentage"
    if column.role is ColumnRole.LOSS and names.evaluation(column.name):
        return f"{column.name!r} is of an evaluation"
    return ""


def contradicts_values(column: CompiledColumn, values: Sequence[float | None]) -> str:
    """Return how the numbers of a column, oldest first, contradict its role; empty where they do not."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if len(finite) < _MOSTLY * len(values) and column.role is not ColumnRole.LOSS:
        return "its numbers are not finite"
    check = _VALUE_CHECKS.get(column.role)
    return check(finite) if check and finite else ""


def _is_counter(values: Sequence[float]) -> str:
    if any(not 0 <= value < _LARGEST_COUNTER or value != int(value) for value in values):
        return "a counter is a whole number"
    return ""


def _grows(values: Sequence[float]) -> str:
    if found := _is_counter(values):
        return found
    kept = sum(earlier <= later for earlier, later in pairwise(values))
    constant = len(values) > 2 and len(set(values)) == 1
    return "it does not grow" if constant or kept < _MOSTLY * (len(values) - 1) else ""


def _never_falls(values: Sequence[float]) -> str:
    if any(value < 0 for value in values):
        return "it is negative"
    kept = sum(earlier <= later for earlier, later in pairwise(values))
    return "it falls" if kept < _MOSTLY * (len(values) - 1) else ""


def _is_total(values: Sequence[float]) -> str:
    if any(not 0 < value < _LARGEST_COUNTER or value != int(value) for value in values):
        return "a total is a whole number"
    return "it changes" if len(values) > 3 and len(set(values)) > max(1, len(values) // 4) else ""


def _is_loss(values: Sequence[float]) -> str:
    if any(values) and all(value == int(value) for value in values):
        return "a loss is not a whole number"
    if len(values) > 3 and all(earlier < later for earlier, later in pairwise(values)):
        return "it only grows"
    return ""


def _is_positive(values: Sequence[float]) -> str:
    return "it is not positive" if any(value < 0 for value in values) or not any(values) else ""


def _is_learning_rate(values: Sequence[float]) -> str:
    return "" if all(0 <= value <= _LARGEST_LEARNING_RATE for value in values) else "no learning rate is so large"


_VALUE_CHECKS: Mapping[ColumnRole, Callable[[Sequence[float]], str]] = {
    ColumnRole.STEP: _grows,
    ColumnRole.EPOCH_STEP: _is_counter,
    ColumnRole.STEP_TOTAL: _is_total,
    ColumnRole.EPOCH_STEP_TOTAL: _is_total,
    ColumnRole.EPOCH: _never_falls,
    ColumnRole.EPOCH_TOTAL: _is_total,
    ColumnRole.LOSS: _is_loss,
    ColumnRole.STEP_TIME: _is_positive,
    ColumnRole.REPORT_TIME: _is_positive,
    ColumnRole.RATE: _is_positive,
    ColumnRole.ELAPSED: _never_falls,
    ColumnRole.SAMPLES: _never_falls,
    ColumnRole.TOKENS: _never_falls,
    ColumnRole.LEARNING_RATE: _is_learning_rate,
}


def compare_with_clock(stated: float, measured: float | None) -> Standing:
    """Return what a clock shows about stated seconds per step."""
    if measured is None:
        return Standing.UNTESTED
    ratio = stated / measured
    if AGREES[0] <= ratio <= AGREES[1]:
        return Standing.CONFIRMED
    return Standing.CONTRADICTED if ratio > _LONGEST else Standing.UNTESTED


def is_named(column: CompiledColumn) -> bool:
    """Return whether the name of a column, as far as the rules know it, agrees with its role."""
    if column.role is ColumnRole.RATE and _SPEED_WORD.search(column.template):
        return True
    named = names.meaning(column.name or name_before(column.before))
    known = column.rule.meaning if column.rule is not None else named[0] if named else None
    return known is not None and known in _ALLOWED[column.role] and known is not Meaning.MEASURE


def typical(values: Sequence[float]) -> float:
    """Return the median of the newest values."""
    return median(values[-20:])
