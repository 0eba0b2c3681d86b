"""Which template of a stream a model is asked about: the most frequent one of which some answer could be confirmed by the clock."""

from collections.abc import Iterable, Sequence
from itertools import pairwise, permutations
from math import isfinite

from schedmate_records import ModelAnswer, ModelQuestion, Sample

from ...grammar import stamps
from ...grammar.numbers import NUMBER, parse
from ...grammar.prefix import strip_prefix
from ...prompts import PreparedQuestion
from .check import TemplatePoint, confirmed
from .prompt import A_SECOND, LONGEST, MOST, SECONDS, SHOWN, numbers, prompt, texts_of

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


LINES = 40
"""Newest lines of a template that are held against the clock before anybody is asked about it, and again once there is an answer."""


def prepare(question: ModelQuestion, lines: Sequence[Sample]) -> PreparedQuestion | None:
    """Return the question about a stream with its prompt; None where no template is worth a question.

    Args:
        question: The question.
        lines: The newest lines of the stream, oldest first.
    """
    for samples in _templates(lines):
        asked = prompt(samples, question.job)
        if asked is None or asked.key in question.known:
            continue
        draft = ModelAnswer(
            id="", job=question.job, attempt=question.attempt, incarnation=question.incarnation,
            about=asked.key, time=0.0, model="", prompt="",
            samples=list(samples), node=question.node, rank=question.rank, stream=question.stream,
        )  # fmt: skip
        return PreparedQuestion(asked, draft, lambda content: {"numbers": numbers(content)})
    return None


def _templates(lines: Sequence[Sample]) -> Iterable[Sequence[Sample]]:
    """Yield the newest lines of each template that could be confirmed as a report, the most frequent template first."""
    groups: dict[tuple[str, ...], list[Sample]] = {}
    for each in lines:
        texts = texts_of(each.line.text)
        if 2 <= len(texts) - 1 <= MOST:  # a step and a time
            groups.setdefault(texts, []).append(each)
    for samples in sorted(groups.values(), key=len, reverse=True):
        if len(samples) < SHOWN:
            return
        if could_be_confirmed(samples[-LINES:]):
            yield samples[-LINES:]
