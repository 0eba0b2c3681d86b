"""Which of the numbers that reports count by is the training step, and which reports belong to the training loop."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from .pace import GROWING
from .reports import BAR, Report

_FEW = 4
"""One report in so many must count to an end before that is taken for the end of the training loop."""


def tagged(window: Sequence[Report]) -> Sequence[Report]:
    """Return `window` with the number before each line as its step, where it grows from line to line: then it is no rank."""
    tags = [report.rank for report in window if report.rank is not None and report.step is None]
    if len(tags) < max(GROWING, len(window)) or any(a >= b for a, b in pairwise(tags)):
        return window
    return [msgspec.structs.replace(report, step=report.rank, rank=None) for report in window]


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
