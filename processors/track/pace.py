"""Seconds per step by the clock: differences of printed stamps, of elapsed times, or of arrival times over differences of steps."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean

import msgspec

from ..grammar.stamps import difference
from ..read.column_search import CounterValue
from ..read.robust import median, spread, without_outliers, without_pauses
from .reports import Report

_ENOUGH = 10
"""Ticks of the clock that the differences must span together where one difference spans few."""

_BURST = 1e-3
"""Seconds between two reports below which they arrived together: only those between such bursts say something."""

_APART = 3
"""Bursts that must arrive one after the other."""

_PAUSED = 1.5
"""Times the median beyond which a difference of a coarse clock holds a pause."""
_TICKS, _EXACT = (1.0, 0.1, 0.01), 1e-5

_PAIRED = 0.35
"""Share of long gaps from which lines arrive a few at a time; evaluations are rarer."""
_PAUSE = 4
"""Times the mean beyond which a difference is a pause."""

_LONGEST = 30 * 86400.0
"""Seconds between two reports beyond which their stamps are of two kinds: one has no year, or no date."""

_NEARLY, _FAR, _LONGEST_STEP = 0.05, 10, 600.0

_LOOSE, CLOSE_TO = 0.5, (0.75, 1.33)
"""Share of its differences that the pace of a counter without reports must explain, and how nearly."""

_STRAIGHT = 0.5
"""Share of its moves that a clock goes forward in all; it moves back where several ranks print theirs by turns."""

GROWING = 4
"""Values of a field that must grow, one after the other, before it is taken for a clock whatever its name."""

Clock = Callable[[Report], float | None]


class ObservedStepTime(msgspec.Struct, frozen=True):
    """Seconds per step by a clock.

    Attributes:
        seconds: Per step.
        method: `timestamps` or `arrival`.
        stride: Steps between two reports (median).
        count: Differences that it rests on.
        name: The field that is the clock; empty for printed stamps and for arrival.
        mean: Seconds per step in all, pauses left out: lines that arrive a few at a time have a misleading median.
        unsteady: Spread of the differences over their median.
        coarse: It ticks slower than reports come, so that only the sum of the differences means something.
    """

    seconds: float
    method: str
    stride: float
    count: int
    name: str = ""
    mean: float = 0.0
    unsteady: float = 0.0
    coarse: bool = False


def pairs(window: Sequence[Report]) -> list[tuple[Report, Report]]:
    """Return neighbouring reports that count alike, in one epoch, the later with the higher step.

    Where every epoch is reported once, neighbours stand in different ones.
    """
    last: dict[tuple[str, int | None, int | None], Report] = {}
    within, across = [], []
    for report in window:
        if report.step is None:
            continue
        counter = report.step_name, report.total, report.rank
        earlier = last.get(counter)
        last[counter] = report
        if earlier is None or earlier.step is None or report.step <= earlier.step:
            continue
        if earlier.epoch is not None and report.epoch is not None and int(earlier.epoch) != int(report.epoch):
            across.append((earlier, report))  # an evaluation may lie between
        else:
            within.append((earlier, report))
    return within or across


def paces(window: Sequence[Report]) -> list[ObservedStepTime]:
    """Return seconds per step by each clock that the reports have: stamps, elapsed times, arrival."""
    return clocked(window, pairs(window), lambda earlier, later: (later.step or 0) - (earlier.step or 0))


def of_counter(values: Sequence[CounterValue]) -> ObservedStepTime | None:
    """Return seconds per step of a bare counter by the first clock that most differences agree with; pauses only add. None without one."""
    window = [Report(each.line, 0, each.arrival, "", 0, step=each.step, stamp=each.stamp) for each in values]
    found = pairs(window)
    stride = median([(later.step or 0) - (earlier.step or 0) for earlier, later in found]) if found else 0
    clocks: list[tuple[Clock, str]] = [
        (lambda report: report.stamp, "timestamps"),
        (lambda report: report.time, "arrival"),
    ]
    for clock, method in clocks:
        passed = _passed(found, clock, method, "", lambda earlier, later: (later.step or 0) - (earlier.step or 0))
        tick = _tick([seconds for seconds, _ in passed]) if method != "arrival" else 0.0
        each = [seconds / steps for seconds, steps in passed if seconds > _ENOUGH * tick]
        usual = without_pauses(each)
        if usual and sum(CLOSE_TO[0] <= one / usual <= CLOSE_TO[1] for one in each) >= max(
            GROWING, _LOOSE * len(passed)
        ):
            return ObservedStepTime(usual, method, stride, len(each))
    return None


def clocked(
    window: Sequence[Report], found: Sequence[tuple[Report, Report]], progress: Callable[[Report, Report], float]
) -> list[ObservedStepTime]:
    """Return seconds per unit of `progress` between the neighbours `found`, by each clock that the reports have."""
    if not found:
        return []
    clocks: list[tuple[Clock, str, str]] = [(lambda report: report.stamp, "timestamps", "")]
    clocks += [(_field(key), "timestamps", key) for key in growing(window)]
    clocks.append((lambda report: report.time, "arrival", ""))
    known = [_pace(found, clock, method, name, progress) for clock, method, name in clocks]
    return [pace for pace in known if pace is not None]


def growing(window: Sequence[Report]) -> list[str]:
    """Return the printed times that only grow: those called a clock first."""
    keys = dict.fromkeys(key for report in window for key in report.times)
    found = []
    for key in keys:
        role = key.split(":", 1)[0]
        values = [report.times[key] for report in window if key in report.times]
        grows = role != "step" and len(values) >= GROWING and _grows(values)
        if (role == "clock" and not _wanders(values)) or (grows and not _creeps(window, key)):
            found.append(key)
    return sorted(found, key=lambda key: not key.startswith("clock"))


def _wanders(values: Sequence[float]) -> bool:
    """Return whether `values` go up and down by turns: times of single steps, whatever their name says."""
    moves = [later - earlier for earlier, later in pairwise(values) if later >= earlier / 2]
    return len(moves) >= GROWING - 1 and any(moves) and sum(moves) < _STRAIGHT * sum(map(abs, moves))


def _grows(values: Sequence[float]) -> bool:
    """Return whether `values` grow all the time, or begin anew now and then: time since the start of an epoch."""
    falls = [(a, b) for a, b in pairwise(values) if a > b]
    begun_anew = all(b < a / 2 for a, b in falls) and len(falls) * GROWING < len(values)
    return begun_anew and len(set(values)) >= GROWING


def _creeps(window: Sequence[Report], key: str) -> bool:
    """Return whether a time that grows is one of a step all the same: nearly constant, and far too long for time since the start."""
    counted = [(report.step, report.times[key]) for report in window if key in report.times and report.step]
    if len(counted) < GROWING:
        return False
    (begin, first), (end, last) = counted[0], counted[-1]
    if end <= begin:
        return False
    return (
        last < _LONGEST_STEP and last - first < _NEARLY * first and last / end > _FAR * (last - first) / (end - begin)
    )


def _field(key: str) -> Clock:
    return lambda report: report.times.get(key)


def _pace(
    found: Sequence[tuple[Report, Report]],
    clock: Clock,
    method: str,
    name: str,
    progress: Callable[[Report, Report], float],
) -> ObservedStepTime | None:
    passed = _passed(found, clock, method, name, progress)
    if sum(seconds for seconds, _ in passed) <= 0:
        return None
    if method == "arrival" and len(passed) < min(_APART, len(found)):
        return None  # arrived in one burst: read late, or replayed
    usual = median(seconds for seconds, _ in passed)
    tick = _tick([seconds for seconds, _ in passed]) if method != "arrival" else 0.0
    stride = median(steps for _, steps in passed)
    if tick and usual < _ENOUGH * tick:
        return _coarse(passed, tick, method, name, stride)
    each = [seconds / steps for seconds, steps in passed]
    kept = without_outliers(each)
    middle = median(kept)
    if method == "arrival" and sum(value > 2 * middle for value in each) >= _PAIRED * len(each):
        kept = [value for value in each if value <= _PAUSE * fmean(each)]
        middle = fmean(kept)  # lines that arrive in pairs: the median is the gap within one
    return (
        ObservedStepTime(middle, method, stride, len(kept), name, _mean(passed), spread(each)) if middle > 0 else None
    )


def _passed(
    found: Sequence[tuple[Report, Report]],
    clock: Clock,
    method: str,
    name: str,
    progress: Callable[[Report, Report], float],
) -> list[tuple[float, float]]:
    """Return (seconds, progress) between neighbours; nothing where the clock goes backwards."""
    passed: list[tuple[float, float]] = []
    for earlier, later in found:
        begin, end = clock(earlier), clock(later)
        if begin is None or end is None:
            continue
        seconds = difference(begin, end) if method == "timestamps" else end - begin
        if abs(seconds) > _LONGEST or (seconds < 0 and name):
            continue  # it begins anew with each epoch
        if seconds < 0:
            return []
        steps = progress(earlier, later)
        if method != "arrival" or seconds >= _BURST:
            passed.append((seconds, steps))
        elif passed:
            passed[-1] = (passed[-1][0], passed[-1][1] + steps)  # arrived together with the one before
    return passed


def _tick(differences: Sequence[float]) -> float:
    """Return the seconds of which all `differences` are multiples, as a clock prints them; 0 for finer ones."""
    return next(
        (tick for tick in _TICKS if all(abs(each - round(each / tick) * tick) < _EXACT for each in differences)), 0.0
    )


def _mean(passed: list[tuple[float, float]]) -> float:
    usual = fmean(seconds / steps for seconds, steps in passed)
    kept = [(seconds, steps) for seconds, steps in passed if seconds / steps <= 2 * _PAUSE * usual]
    return sum(seconds for seconds, _ in kept) / sum(steps for _, steps in kept)


def _coarse(
    passed: list[tuple[float, float]], tick: float, method: str, name: str, stride: float
) -> ObservedStepTime | None:
    """A clock that ticks slower than reports come: the time of many reports over their steps."""
    usual = median(seconds for seconds, _ in passed)
    kept = [(seconds, steps) for seconds, steps in passed if seconds <= _PAUSED * usual + 2 * tick]
    total, steps = sum(seconds for seconds, _ in kept), sum(steps for _, steps in kept)
    if total < _ENOUGH * tick or not steps:
        return None
    return ObservedStepTime(total / steps, method, stride, len(kept), name, total / steps, coarse=True)
