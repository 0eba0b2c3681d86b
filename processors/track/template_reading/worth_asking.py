"""Whether lines are worth a question: whether any answer about their template could be confirmed by the clock."""

from collections.abc import Sequence
from itertools import pairwise, permutations
from math import isfinite

from processors.grammar import stamps
from processors.grammar.numbers import NUMBER, parse
from processors.grammar.prefix import strip_prefix
from records import Sample

from .check import TemplatePoint, confirmed
from .prompt import A_SECOND, LONGEST, SECONDS

_NEAR = (0.5, 2.0)
"""Stated over clocked time per step, over all lines, outside of which a pair of numbers need not be looked at closely."""


def could_be_confirmed(samples: Sequence[Sample]) -> bool:
    """Return whether two of the numbers of `samples`, lines of one template, go together as step and time (or rate) by the clock."""
    prefixed = [strip_prefix(each.line.text[:LONGEST]) for each in samples]
    rows = [[parse(each) for each in NUMBER.findall(one.body)] for one in prefixed]
    printed = [stamps.seconds(each.stamp) if each.stamp else None for each in prefixed]
    columns = list(zip(*rows, strict=True))
    growing = {place for place, column in enumerate(columns) if all(a < b for a, b in pairwise(column))}
    clock = [each for each in printed if each is not None]
    passed = stamps.difference(clock[0], clock[-1]) if len(clock) == len(samples) else 0.0
    passed = passed or samples[-1].time - samples[0].time
    return any(
        _go_together(columns[step], columns[other], passed, printed, samples)
        for step, other in permutations(range(len(columns)), 2)
        if step in growing
    )


def _go_together(
    steps: Sequence[float],
    values: Sequence[float],
    passed: float,
    printed: Sequence[float | None],
    samples: Sequence[Sample],
) -> bool:
    made = steps[-1] - steps[0]
    if passed <= 0 or not all(isfinite(each) and each > 0 for each in values):
        return False
    readings = [[value * scale for value in values] for scale in SECONDS]
    readings += [[1 / (value * scale) for value in values] for scale in A_SECOND]
    for seconds in readings:
        if not _NEAR[0] <= sorted(seconds)[len(seconds) // 2] * made / passed <= _NEAR[1]:
            continue
        told = zip(samples, printed, steps, seconds, strict=True)
        if confirmed([TemplatePoint(0, 0, one.time, stamp, step, each, None) for one, stamp, step, each in told]):
            return True
    return False
