"""What of a model's reading of a template the clock confirms. The rest of it is not used."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import isfinite, nan
from statistics import median

import msgspec

from schedmate_records import NumberMeaning

from ...grammar import stamps
from ...grammar.names import Field, Meaning
from ...grammar.numbers import NUMBER, parse
from ...grammar.prefix import strip_prefix
from ...grammar.units import STEPS
from .prompt import LONGEST, fields

_FEWEST = 8
"""Lines that a reading needs before it can be confirmed."""
_INTERVALS = 3
"""Intervals of the clock that it must agree in."""
_AGREES = (0.7, 1.35)
"""Stated over clocked time per step: what lies outside is dropped."""
_SHARE = 0.75
"""Of the intervals between lines, this many must agree."""


class Template(msgspec.Struct, frozen=True):
    """A template that a model explained.

    Attributes:
        key: Its checksum, as in the question.
        texts: The texts around its numbers.
        numbers: What the model says that they mean.
    """

    key: str
    texts: tuple[str, ...]
    numbers: tuple[NumberMeaning, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """What the model says in the grammar's terms; empty where it contradicts itself or names nothing of interest."""
        return _slots(self)


@lru_cache(maxsize=1024)
def _slots(template: Template) -> tuple[Field, ...]:
    return fields(template.numbers, template.texts)


class TemplatePoint(msgspec.Struct, array_like=True, frozen=True):
    """What a line says, read as a model says that it is to be read.

    Attributes:
        line: Its number.
        offset: Kafka offset of its chunk.
        time: Its arrival, in seconds since 1970.
        stamp: The time printed on it, in seconds; null without one.
        step: Training step.
        seconds: Per step, as stated.
        loss: Training loss; null where the reading names none, or several.
    """

    line: int
    offset: int
    time: float
    stamp: float | None
    step: float
    seconds: float
    loss: float | None


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What of a reading agrees with the clock.

    Attributes:
        step: Training step of the newest line.
        step_time_s: Median stated seconds per step.
        loss: Loss of the newest line; null where the reading names none, or several. The clock cannot confirm it: it rests on the rest
            of the same answer being right.
        share: Share of the intervals between lines in which step, stated time and clock agreed.
    """

    step: int
    step_time_s: float
    loss: float | None
    share: float


def point(template: Template, text: str, line: int, offset: int, time: float) -> TemplatePoint | None:
    """Return what the line `text` of `template` says; None where it states no step or no time per step."""
    prefixed = strip_prefix(text.strip("\r\n")[:LONGEST])
    found = NUMBER.findall(prefixed.body)
    values: dict[Meaning, list[float]] = {}
    for field in template.fields:
        if field.index < len(found) and (field.meaning is not Meaning.RATE or field.unit == STEPS):
            values.setdefault(field.meaning, []).append(parse(found[field.index]) * field.scale)
    (step, *_), seconds = values.get(Meaning.STEP, [nan]), _step_seconds(values)
    if not isfinite(step) or not isfinite(seconds):
        return None
    losses = values.get(Meaning.LOSS, [])
    loss = losses[0] if len(losses) == 1 and isfinite(losses[0]) else None
    stamp = stamps.seconds(prefixed.stamp) if prefixed.stamp else None
    return TemplatePoint(line, offset, time, stamp, step, seconds, loss)


def confirmed(points: Sequence[TemplatePoint]) -> Confirmed | None:
    """Return what the printed times of `points`, oldest first, or else their arrival confirm; None where they do not.

    Needs a step that only grows, and a stated time per step (or steps a second) that, times the steps made, is the time that passed.
    Of lines that came at one moment the last counts. A rate of samples or tokens cannot be confirmed without a batch size.
    """
    if len(points) < _FEWEST or any(later.step <= earlier.step for earlier, later in pairwise(points)):
        return None
    newest = points[-1]
    pace = _pace(points, [each.stamp for each in points]) or _pace(points, [each.time for each in points])
    share = sum(_AGREES[0] <= each <= _AGREES[1] for each in pace) / max(len(pace), 1)
    if len(pace) < _INTERVALS or share < _SHARE or newest.step != int(newest.step):
        return None
    return Confirmed(int(newest.step), median(each.seconds for each in points), newest.loss, share)


def _pace(points: Sequence[TemplatePoint], clock: Sequence[float | None]) -> list[float]:
    """Return stated over passed time between the ticks of `clock`; nothing where one is missing or goes back."""
    ticks: list[tuple[TemplatePoint, float]] = []
    for each, time in zip(points, clock, strict=True):
        if time is None:
            return []
        if ticks and time == ticks[-1][1]:
            ticks.pop()
        ticks.append((each, time))
    found = []
    for (earlier, begin), (later, end) in pairwise(ticks):
        passed = stamps.difference(begin, end)
        if passed <= 0:
            return []
        found.append(later.seconds * (later.step - earlier.step) / passed)
    return found


def _step_seconds(values: dict[Meaning, list[float]]) -> float:
    """Return the stated seconds per step; not a number where there are none."""
    (stated, *_), (rate, *_) = values.get(Meaning.STEP_TIME, [nan]), values.get(Meaning.RATE, [nan])
    if stated > 0:
        return stated
    return 1 / rate if rate > 0 and Meaning.STEP_TIME not in values else nan
