"""The throughput of a window of reports: as stated, or from counters of samples or tokens and a clock."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from ..grammar.units import SAMPLES
from ..read.robust import robust_median
from .pace import ObservedStepTime, Progress, clocked
from .reports import Report

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
    if done := _pace(window, lambda _, later: later.done or 0.0):
        return 1 / done.seconds, SAMPLES
    if alone and (counted := _pace(window, _more)):
        return 1 / counted.seconds, next(report.count_unit for report in reversed(window) if report.count is not None)
    return None, None


def _more(earlier: Report, later: Report) -> float:
    if earlier.count is None or later.count is None:
        return 0.0
    return max(0.0, later.count - earlier.count)


def _pace(window: Sequence[Report], progress: Progress) -> ObservedStepTime | None:
    found = [(earlier, later) for earlier, later in pairwise(window) if progress(earlier, later)]
    known = clocked(window, found, progress) if len(found) >= 2 else []
    return next((pace for pace in known if pace.count >= 2), None)
