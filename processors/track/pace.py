"""Seconds per step by the clock: differences of printed stamps, of elapsed times, or of arrival times over differences of steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from processors.grammar.stamps import difference

from .reports import Report
from .robust import without_outliers

_ENOUGH = 10
"""Ticks of the clock that the differences must span together where one difference spans few."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds per step by a clock.

    Attributes:
        seconds: Per step.
        method: `timestamps` or `arrival`.
        stride: Steps between two reports (median).
        count: Differences that it rests on.
    """

    seconds: float
    method: str
    stride: float
    count: int


def pairs(window: Sequence[Report]) -> list[tuple[Report, Report]]:
    """Return neighbouring reports of one shape and epoch, the later with the higher step."""
    last: dict[int, Report] = {}
    found = []
    for report in window:
        earlier = last.get(report.shape)
        last[report.shape] = report
        if earlier is None or earlier.step is None or report.step is None or report.step <= earlier.step:
            continue
        if earlier.epoch is not None and report.epoch is not None and int(earlier.epoch) != int(report.epoch):
            continue  # an evaluation may lie between
        found.append((earlier, report))
    return found


def by_clock(window: Sequence[Report]) -> Pace | None:
    """Return seconds per step by the best clock that the reports have; None without one."""
    found = pairs(window)
    if not found:
        return None
    stamps: Callable[[Report], float | None] = lambda report: report.stamp  # noqa: E731
    clocks: Callable[[Report], float | None] = lambda report: report.clock  # noqa: E731
    arrivals: Callable[[Report], float | None] = lambda report: report.time  # noqa: E731
    for clock, method in ((stamps, "timestamps"), (clocks, "timestamps"), (arrivals, "arrival")):
        if pace := _pace(found, clock, method):
            return pace
    return None


def _pace(found: Sequence[tuple[Report, Report]], clock: Callable[[Report], float | None], method: str) -> Pace | None:
    passed: list[tuple[float, int]] = []
    readings: list[float] = []
    for earlier, later in found:
        begin, end = clock(earlier), clock(later)
        if begin is None or end is None or earlier.step is None or later.step is None:
            continue
        seconds = difference(begin, end) if method == "timestamps" else end - begin
        if seconds < 0:
            return None  # no clock goes backwards
        passed.append((seconds, later.step - earlier.step))
        readings += (begin, end)
    total = sum(seconds for seconds, _ in passed)
    if not passed or total <= 0:
        return None
    if method == "arrival" and len(set(readings)) * 2 < len(passed) + 1:
        return None  # arrived in bursts: their times say nothing
    tick = 1.0 if all(reading == int(reading) for reading in readings) else 0.0
    stride = median(steps for _, steps in passed)
    if tick and median(seconds for seconds, _ in passed) < _ENOUGH * tick:
        return _coarse(passed, tick, method, stride)
    kept = without_outliers([seconds / steps for seconds, steps in passed])
    return Pace(median(kept), method, stride, len(kept)) if median(kept) > 0 else None


def _coarse(passed: list[tuple[float, int]], tick: float, method: str, stride: float) -> Pace | None:
    """A clock that ticks slower than reports come: the time of many reports over their steps."""
    usual = median(seconds for seconds, _ in passed)
    kept = [(seconds, steps) for seconds, steps in passed if seconds <= 3 * usual + 2 * tick]
    total, steps = sum(seconds for seconds, _ in kept), sum(steps for _, steps in kept)
    if total < _ENOUGH * tick or not steps:
        return None
    return Pace(total / steps, method, stride, len(kept))
