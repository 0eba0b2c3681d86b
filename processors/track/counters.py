"""Which of the numbers that reports count by is the training step, and which reports belong to the training loop."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from .pace import GROWING
from .reports import BAR, Report, inside_a_step

_FEW = 4
"""One report in so many must count to an end before that is taken for the end of the training loop."""
_STILL = 6
"""Lines with a loss of their own that name one step: more than the parts of a step."""


def tagged(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` with the number before each line as its step, where it grows from line to line: then it is no rank."""
    tags = [report.rank for report in window if report.rank is not None and report.step is None]
    if len(tags) < max(GROWING, len(window)) or any(a >= b for a, b in pairwise(tags)):
        return window
    return [msgspec.structs.replace(report, step=report.rank, rank=None) for report in window]


def swapped(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` with `N` as the step of reports that print `k/N` where `N` counts and `k` stands still: `k` is the epoch.

    Bars are left alone: theirs ends at `N`, and the next may end elsewhere.
    """
    if all(report.total is None for report in window):
        return window
    odd = set()
    for shape in {report.shape for report in window if report.total is not None and BAR not in report.times}:
        counted = [(report.step, report.total) for report in window if report.shape == shape and report.total]
        pairs = list(pairwise(counted))
        counts = sum(
            k == later and n < total for (k, n), (later, total) in pairs if n is not None and total is not None
        )
        if counts and counts * 2 > len(pairs):
            odd.add(shape)
    if not odd:
        return window
    return [
        msgspec.structs.replace(report, step=report.total, total=None, epoch=float(report.step or 0))
        if report.shape in odd and report.total is not None
        else report
        for report in window
    ]


def of_epochs(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` with a bare `k/N` as the epoch where each report, one further than the last, holds an evaluation too.

    Their times and speeds are those of epochs, and left out. Bars are left alone: they show the last evaluation at every step.
    """
    bare = [
        report
        for report in window
        if report.unnamed and report.evaluated and report.epoch is None and BAR not in report.times
    ]
    pairs = list(pairwise(report.step or 0 for report in bare))
    if len(pairs) < GROWING - 1 or any(later - earlier != 1 for earlier, later in pairs):
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


def moving(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` without batches that stand still from epoch to epoch: the size of one, not its number."""
    open_ended = [report for report in window if report.step is not None and report.total is None]
    names = {report.step_name for report in open_ended if report.step_name.lower().endswith("batch")}
    still = {
        name
        for name in names
        if len({report.step for report in open_ended if report.step_name == name}) == 1
        and len({report.epoch for report in open_ended if report.step_name == name}) >= GROWING
    }
    if not still:
        return window
    return [msgspec.structs.replace(report, step=None) if report.step_name in still else report for report in window]


def stepping(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` without counters that stand still while the loss moves on from line to line: of epochs, or of one that is over."""
    still = {(report.shape, report.step_name) for report in window if report.restated >= _STILL}
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


def outermost(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` without the steps of loops inside a step: of micro-batches, while another line counts the steps."""
    outer = [report for report in window if report.total is None and report.step is not None]
    ended = [report for report in window if report.total is not None] if outer else []
    inner = {report.line for report in ended if any(inside_a_step(report, other) for other in outer)}
    if not inner:
        return window
    return [
        msgspec.structs.replace(report, step=None, total=None) if report.line in inner else report for report in window
    ]


def past(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` without bars that more reports with a loss have followed than they count: they were of a preparation."""
    last = max((place for place, report in enumerate(window) if report.bare), default=-1)
    after = window[last + 1 :]
    if last < 0 or len(after) < max(GROWING, window[last].total or 0) or not all(report.has_loss for report in after):
        return window
    return [report for report in window if not report.bare]


def one_loop(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` without the reports of other loops: they count to another end, and print no loss.

    Of two loops that print alike (training and evaluation under one bar) the longer is the training.
    """
    if all(report.total is None for report in window):
        return window
    shape = main_shape(window)
    main = [report for report in window if report.shape == shape]
    outer = _outer(window)
    if outer is not None:
        return [report for report in window if report.total in (None, outer) or report.has_loss]
    ends = Counter(report.total for report in main if report.total is not None)
    often = [total for total, count in ends.items() if count * _FEW >= len(main)]
    if not often:
        return window
    end = max(often)
    return [report for report in window if report.total in (None, end) or (report.has_loss and report.shape != shape)]


def _outer(window: Sequence[Report]) -> int | None:
    """Return the end of the bar that runs about all others: longer in steps and in time, and drawn again after they began.

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
