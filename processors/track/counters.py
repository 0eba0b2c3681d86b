"""Which number of the reports counts the steps, and which reports belong to the training loop."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from .pace import GROWING
from .reports import BAR, Report

FEW = 4
"""One report in so many must hold a number before it is taken for that of the training loop."""
_REPEATS = 16
"""Further lines with another loss that repeat a step, from which it is no step: more than a node has ranks that print the same line."""


def with_tags_as_steps(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` with the number before each line as its step where it grows from line to line: it is no rank."""
    tags = [report.rank for report in window if report.rank is not None and report.step is None]
    if len(tags) < max(GROWING, len(window)) or any(a >= b for a, b in pairwise(tags)):
        return window
    return [msgspec.structs.replace(report, step=report.rank, rank=None) for report in window]


def with_swapped_counters(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` with `N` as the step of reports that print `k/N` where `N` grows and `k` does not: `k` is the epoch.

    Bars are not changed: each ends at its `N`, and the next may end elsewhere.
    """
    swapped = set()
    for shape in {report.shape for report in window if report.total is not None and BAR not in report.times}:
        counted = [(report.step, report.total) for report in window if report.shape == shape and report.total]
        grown = [a == b and m is not None and n is not None and m < n for (a, m), (b, n) in pairwise(counted)]
        if 2 * sum(grown) > len(grown):
            swapped.add(shape)
    if not swapped:
        return window
    return [
        msgspec.structs.replace(report, step=report.total, total=None, epoch=float(report.step or 0))
        if report.shape in swapped and report.total is not None
        else report
        for report in window
    ]


def epochs_with_evaluations(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` with a bare `k/N` as the epoch where each report is one further than the last and holds an evaluation too.

    Their times and speeds are those of epochs, and left out. Bars are not changed: they show the last evaluation at every step.
    """
    bare = [
        report
        for report in window
        if report.unnamed and report.evaluated and report.epoch is None and BAR not in report.times
    ]
    grown = [(later.step or 0) - (earlier.step or 0) for earlier, later in pairwise(bare)]
    if not grown or set(grown) != {1}:
        return window
    shapes = {report.shape for report in bare}
    return [
        msgspec.structs.replace(
            report, step=None, total=None, epoch=float(report.step or 0), step_rate=None, times={}, rates={}
        )
        if report.shape in shapes and report.unnamed
        else report
        for report in window
    ]


def without_counters_that_stop(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` without counters that stay the same while the loss changes from line to line: of epochs, or of a loop that ended."""
    still = {(report.shape, report.step_name) for report in window if report.repeats >= _REPEATS}
    if not still:
        return window
    return [
        msgspec.structs.replace(
            report, step=None, total=None, epoch=float(report.step or 0) if report.epoch is None else report.epoch
        )
        if report.step is not None and (report.shape, report.step_name) in still
        else report
        for report in window
    ]


def without_preparation(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` without bars that count fewer steps than there are later reports with a loss: they are of a preparation."""
    last = max((place for place, report in enumerate(window) if report.bare), default=-1)
    after = window[last + 1 :]
    if last < 0 or len(after) < max(GROWING, window[last].total or 0) or not all(report.has_loss for report in after):
        return window
    return [report for report in window if not report.bare]


def main_loop(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` without the reports of other loops: they count to another end, and print no loss.

    Of two loops that print the same (training and evaluation under one bar) the longer is the training.
    """
    if all(report.total is None for report in window):
        return window
    outer = _end_of_outer_bar(window)
    if outer is not None:
        return [report for report in window if report.total in (None, outer) or report.has_loss]
    shape = main_shape(window)
    main = [report for report in window if report.shape == shape]
    ends = Counter(report.total for report in main if report.total is not None)
    often = [total for total, count in ends.items() if count * FEW >= len(main)]
    if not often:
        return window
    end = max(often)
    return [report for report in window if report.total in (None, end) or (report.has_loss and report.shape != shape)]


def _end_of_outer_bar(window: Sequence[Report]) -> int | None:
    """Return the end of the bar that is longer than all others in steps and in time, and is drawn again after they began.

    An evaluation may draw many more lines than the training that it interrupts.
    """
    bars = [report for report in window if report.unnamed and report.total is not None and BAR in report.times]
    longest = max(bars, key=lambda bar: (bar.times[BAR], bar.total or 0), default=None)
    if longest is None or longest.total is None:
        return None
    others = [bar for bar in bars if bar.total != longest.total]
    ended = max(place for place, bar in enumerate(bars) if bar.total == longest.total)
    if not others or any((bar.total or 0) > longest.total for bar in others) or bars.index(others[0]) > ended:
        return None
    return longest.total


def main_shape(window: Sequence[Report]) -> int:
    """Return the shape of most reports; of two, the one with a step, then the newer one."""
    counts = Counter([report.shape for report in window])
    if len(counts) == 1:
        return window[0].shape
    counted = {report.shape for report in window if report.step is not None}
    newest = {report.shape: place for place, report in enumerate(window)}
    return max(counts, key=lambda shape: (shape in counted, counts[shape], newest[shape]))


CORRECTIONS = (
    with_tags_as_steps,
    with_swapped_counters,
    without_counters_that_stop,
    epochs_with_evaluations,
    without_preparation,
    main_loop,
)
"""In the order in which they are applied."""
