"""Speeds by a clock (printed stamps, elapsed times, arrival times) over steps, samples or tokens; and throughputs that reports state."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean

import msgspec

from ..grammar.stamps import difference
from ..grammar.units import SAMPLES
from ..read.column_search import CounterValue
from ..read.robust import median, robust_median, spread, without_outliers
from .reports import Report

GROWING = 4
"""Values of a field that must grow one after the other before it is taken for a clock, whatever its name."""

REMAINING = "remaining"
"""Name of the clock that a printed remaining time is: it counts down."""

Clock = Callable[[Report], float | None]
Progress = Callable[[Report, Report], float]
Passed = list[tuple[float, float]]
"""Seconds and progress between two reports."""


class ObservedStepTime(msgspec.Struct, frozen=True):
    """Seconds per step by a clock.

    Attributes:
        seconds: Per step.
        method: `timestamps` or `arrival`.
        stride: Median number of steps between two reports.
        count: Number of differences.
        name: Field that is the clock; empty for printed stamps and for arrival.
        mean: Mean seconds per step, pauses left out. Lines that arrive in groups have a misleading median.
        unsteady: Spread of the differences over their median.
        coarse: The clock ticks slower than reports come, so that only the sum of the differences is meaningful.
    """

    seconds: float
    method: str
    stride: float
    count: int
    name: str = ""
    mean: float = 0.0
    unsteady: float = 0.0
    coarse: bool = False


def steps_between(earlier: Report, later: Report) -> int:
    """Return the steps between two reports."""
    return (later.step or 0) - (earlier.step or 0)


def pairs(window: Sequence[Report]) -> list[tuple[Report, Report]]:
    """Return neighbouring reports of one counter and one epoch, the later with the higher step.

    Where every epoch is reported once, the neighbours are of different epochs.
    """
    last: dict[tuple[str, int | None, int | None], Report] = {}
    within: list[tuple[Report, Report]] = []
    across: list[tuple[Report, Report]] = []
    for report in window:
        if report.step is None:
            continue
        counter = report.step_name, report.total, report.rank
        earlier = last.get(counter)
        last[counter] = report
        if earlier is None or earlier.step is None or report.step <= earlier.step:
            continue
        epochs = earlier.epoch, report.epoch
        same = epochs[0] is None or epochs[1] is None or int(epochs[0]) == int(epochs[1])
        (within if same else across).append((earlier, report))  # an evaluation may lie between two epochs
    return within or across


def paces(window: Sequence[Report]) -> list[ObservedStepTime]:
    """Return seconds per step by each clock that the reports have: stamps, elapsed times, arrival."""
    return clocked(window, pairs(window), steps_between)


def pace_of_counter(values: Sequence[CounterValue]) -> ObservedStepTime | None:
    """Return seconds per step of a bare counter by the first steady clock; None without one."""
    window = [Report(each.line, 0, each.arrival, "", 0, step=each.step, stamp=each.stamp) for each in values]
    steady = (pace for pace in paces(window) if pace.count >= GROWING and pace.unsteady <= 0.5)
    return next(steady, None)


def clocked(
    window: Sequence[Report], found: Sequence[tuple[Report, Report]], progress: Progress
) -> list[ObservedStepTime]:
    """Return seconds per unit of `progress` between the neighbours `found`, by each clock that the reports have."""
    if not found:
        return []
    clocks: list[tuple[Clock, str, str]] = [(lambda report: report.stamp, "timestamps", "")]
    clocks += [(lambda report, key=key: report.times.get(key), "timestamps", key) for key in growing(window)]  # type: ignore[misc]
    clocks.append((lambda report: report.time, "arrival", ""))
    if _counts_down([report.left for report in window if report.left is not None]):
        clocks.append((lambda report: None if report.left is None else -report.left, "timestamps", REMAINING))
    known = (_pace(_passed(found, clock, method, name, progress), method, name) for clock, method, name in clocks)
    return [pace for pace in known if pace is not None]


def growing(window: Sequence[Report]) -> list[str]:
    """Return the printed times that only grow, those called a clock first."""
    found = []
    for key in dict.fromkeys(key for report in window for key in report.times):
        role = key.partition(":")[0]
        values = [report.times[key] for report in window if key in report.times]
        grows = role != "step" and len(values) >= GROWING and _grows(values)
        if (role == "clock" and not _wanders(values)) or (grows and not _creeps(window, key)):
            found.append(key)
    return sorted(found, key=lambda key: not key.startswith("clock"))


def _wanders(values: Sequence[float]) -> bool:
    """Return whether `values` go up and down: times of single steps, whatever their name is."""
    moves = [later - earlier for earlier, later in pairwise(values) if later >= earlier / 2]
    return len(moves) >= GROWING - 1 and any(moves) and 2 * sum(moves) < sum(map(abs, moves))


def _grows(values: Sequence[float]) -> bool:
    """Return whether `values` grow all the time, or restart now and then: time since the start of an epoch."""
    falls = [(a, b) for a, b in pairwise(values) if a > b]
    restarts = all(b < a / 2 for a, b in falls) and len(falls) * GROWING < len(values)
    return restarts and len(set(values)) >= GROWING


def _creeps(window: Sequence[Report], key: str) -> bool:
    """Return whether a time that grows is an average time of a step: nearly constant, and far too long for the time since the start."""
    counted = [(report.step, report.times[key]) for report in window if key in report.times and report.step]
    if len(counted) < GROWING:
        return False
    (begin, first), (end, last) = counted[0], counted[-1]
    grown = last - first
    return end > begin and last < 600.0 and grown < 0.05 * first and last / end > 10 * grown / (end - begin)


def _counts_down(left: Sequence[float]) -> bool:
    """Return whether the remaining time falls nearly each time. One that rises is of something else, or a rough guess."""
    falls = sum(a > b for a, b in pairwise(left))
    return len(left) >= GROWING and falls * 4 >= 3 * (len(left) - 1)


def _passed(found: Sequence[tuple[Report, Report]], clock: Clock, method: str, name: str, progress: Progress) -> Passed:
    """Return (seconds, progress) between neighbours; nothing where the clock goes backwards."""
    passed: Passed = []
    for earlier, later in found:
        begin, end = clock(earlier), clock(later)
        if begin is None or end is None:
            continue
        seconds = difference(begin, end) if method == "timestamps" else end - begin
        if abs(seconds) > 30 * 86400.0 or (seconds < 0 and name):
            continue  # stamps of two kinds, of which one has no year; or a clock that restarts with each epoch
        if seconds < 0:
            return []
        steps = progress(earlier, later)
        if method != "arrival" or seconds >= 1e-3:
            passed.append((seconds, steps))
        elif passed:
            passed[-1] = (passed[-1][0], passed[-1][1] + steps)  # arrived together with the one before
    if method == "arrival" and len(passed) < min(3, len(found)):
        return []  # arrived in one burst: read late, or replayed
    return passed


def _pace(passed: Passed, method: str, name: str) -> ObservedStepTime | None:
    if sum(seconds for seconds, _ in passed) <= 0:
        return None
    stride = median(steps for _, steps in passed)
    tick = _tick([seconds for seconds, _ in passed]) if method != "arrival" else 0.0
    if tick and median(seconds for seconds, _ in passed) < _TICKS_FOR_A_PACE * tick:
        return _coarse(passed, tick, method, name, stride)
    each = [seconds / steps for seconds, steps in passed]
    kept = without_outliers(each)
    middle, mean = median(kept), fmean(each)
    if method == "arrival" and sum(value > 2 * middle for value in each) >= 0.35 * len(each):
        # Lines arrive in pairs, so the median is the gap within one. Long gaps of evaluations are rarer.
        kept = [value for value in each if value <= 4 * mean]
        middle = fmean(kept)
    if middle <= 0:
        return None
    return ObservedStepTime(middle, method, stride, len(kept), name, _mean_without_pauses(passed, mean), spread(each))


_TICKS_FOR_A_PACE = 10
"""Ticks of a clock that differences must span, so that the error is at most a tenth."""


def _tick(differences: Sequence[float]) -> float:
    """Return the seconds of which all `differences` are multiples, as a clock prints them; 0 for finer ones."""
    return next(
        (
            tick
            for tick in (1.0, 0.1, 0.01)
            if all(abs(each - round(each / tick) * tick) < 1e-5 for each in differences)
        ),
        0.0,
    )


def _mean_without_pauses(passed: Passed, mean: float) -> float:
    kept = [(seconds, steps) for seconds, steps in passed if seconds / steps <= 8 * mean]
    return sum(seconds for seconds, _ in kept) / sum(steps for _, steps in kept)


def _coarse(passed: Passed, tick: float, method: str, name: str, stride: float) -> ObservedStepTime | None:
    """Return the time of many reports over their steps, for a clock that ticks slower than reports come."""
    usual = median(seconds for seconds, _ in passed)
    kept = [(seconds, steps) for seconds, steps in passed if seconds <= 1.5 * usual + 2 * tick]  # others hold a pause
    total, steps = sum(seconds for seconds, _ in kept), sum(steps for _, steps in kept)
    if total < _TICKS_FOR_A_PACE * tick or not steps:
        return None
    return ObservedStepTime(total / steps, method, stride, len(kept), name, total / steps, coarse=True)


Throughput = tuple[float | None, str | None]
"""Things a second and their unit."""


def stated_throughput(window: Sequence[Report], *, alone: bool) -> Throughput:
    """Return the throughput that the reports state; `alone`: there is no step time."""
    units = Counter(unit for report in window for unit in report.rates)
    if not units:
        return None, None
    newest = {unit: place for place, report in enumerate(window) for unit in report.rates}
    unit = max(units, key=lambda name: (units[name], newest[name]))
    counted = [report for report in window if unit in report.rates]
    stepped = [report for report in counted if report.step is not None]
    if len(stepped) * 2 >= len(counted):
        counted = stepped or counted  # the ends of epochs may state the rate of something else
    if not alone and len(counted) * 4 < len(window):
        return None, None  # a summary, over a slow start perhaps
    if len(counted) < 3:
        return counted[-1].rates[unit], unit  # summaries: the newest is of this run
    if unit.endswith("/gpu"):
        return robust_median([report.rates[unit] for report in counted]), unit
    most = max(len(report.rank_rates) for report in counted)
    return robust_median([_of_all_ranks(report, unit) for report in counted if len(report.rank_rates) == most]), unit


def _of_all_ranks(report: Report, unit: str) -> float:
    """Return the rate of all ranks that report the same step: their sum, or the rate of the job if all print the same."""
    own, others = report.rates[unit], list(report.rank_rates.values())
    return own if unit != next(iter(report.rates)) or all(other == own for other in others) else own + sum(others)


def counted_throughput(window: Sequence[Report], samples: Sequence[ObservedStepTime], *, alone: bool) -> Throughput:
    """Return the throughput by counters of samples or tokens and a clock.

    Args:
        window: Reports, oldest first.
        samples: Seconds per sample by each clock, where the counter counts samples.
        alone: There is no step time. Only then counts so far are used.
    """
    if samples:
        return 1 / samples[0].seconds, SAMPLES
    if done := _first_pace(window, lambda _, later: later.done or 0.0):
        return 1 / done.seconds, SAMPLES
    if alone and (counted := _first_pace(window, _more)):
        return 1 / counted.seconds, next(report.count_unit for report in reversed(window) if report.count is not None)
    return None, None


def _more(earlier: Report, later: Report) -> float:
    if earlier.count is None or later.count is None:
        return 0.0
    return max(0.0, later.count - earlier.count)


def _first_pace(window: Sequence[Report], progress: Progress) -> ObservedStepTime | None:
    found = [(earlier, later) for earlier, later in pairwise(window) if progress(earlier, later)]
    known = clocked(window, found, progress) if len(found) >= 2 else []
    return next((pace for pace in known if pace.count >= 2), None)
