"""What of a model's reading of a template the clock confirms. The rest of it is not used."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import msgspec

from processors.grammar.names import Meaning
from processors.grammar.numbers import NUMBER, parse
from processors.grammar.prefix import peel
from processors.grammar.units import STEPS
from records import JobMetric

from .template_reading import LONGEST, Sample, TemplateReading, texts_of

_FEWEST = 4
"""Sample lines that a reading needs before it can be confirmed."""
_AGREES = (0.7, 1.35)
"""Stated over arrival time per step: what lies outside is dropped."""
_SHARE = 0.75
"""Of the intervals between samples, this many must agree."""

_SURE = 0.6
"""Confidence of numbers from a model's reading when the clock agrees all the time."""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What of a reading agrees with the clock.

    Attributes:
        step: Training step of the newest sample.
        step_time_s: Median stated seconds per step.
        loss: Loss of the newest sample; null where the reading names none, or several. The clock cannot confirm it: it rests on the rest
            of the same answer being right.
        share: Share of the intervals between samples in which step, stated time and arrival agreed.
    """

    step: int
    step_time_s: float
    loss: float | None
    share: float


def confirmed(read: TemplateReading, samples: Sequence[Sample]) -> Confirmed | None:
    """Return what of `read` the arrival times of `samples`, oldest first, confirm; None where they do not.

    Needs a step that only grows, and a stated time per step (or steps a second) that, times the steps made, is the time that passed
    between arrivals. A rate of samples or tokens cannot be confirmed without a batch size.
    """
    template = texts_of(samples[0].text) if samples else ()
    alike = [each for each in samples if texts_of(each.text) == template]
    rows = [(_values(read, each.text), each.time) for each in alike]
    points = [
        (values[Meaning.STEP], seconds, time)
        for values, time in rows
        if Meaning.STEP in values and (seconds := _step_seconds(values)) is not None
    ]
    if len(points) < _FEWEST or len(points) < len(rows):
        return None
    intervals = list(pairwise(points))
    if any(later[0] <= earlier[0] or later[2] <= earlier[2] for earlier, later in intervals):
        return None
    pace = [later[1] * (later[0] - earlier[0]) / (later[2] - earlier[2]) for earlier, later in intervals]
    share = sum(_AGREES[0] <= each <= _AGREES[1] for each in pace) / len(pace)
    if share < _SHARE or points[-1][0] != int(points[-1][0]):
        return None
    losses = [slot for slot in read.slots if slot.meaning is Meaning.LOSS]
    loss = rows[-1][0].get(Meaning.LOSS) if len(losses) == 1 else None
    return Confirmed(int(points[-1][0]), median(seconds for _, seconds, _ in points), loss, share)


def completed(metric: JobMetric, known: Confirmed) -> JobMetric:
    """Return `metric` with what it leaves open filled from `known`; what it says stays as it is."""
    found = {"step": known.step, "step_time_s": known.step_time_s, "loss": known.loss}
    filled: dict[str, Any] = {
        name: value for name, value in found.items() if value is not None and getattr(metric, name) is None
    }
    if "step_time_s" in filled:
        filled |= {"method": "stated", "confidence": max(metric.confidence, round(_SURE * known.share, 3))}
    return msgspec.structs.replace(metric, **filled)


def _step_seconds(values: Mapping[Meaning, float]) -> float | None:
    if (stated := values.get(Meaning.STEP_TIME)) is not None:
        return stated if stated > 0 else None
    rate = values.get(Meaning.RATE)
    return 1 / rate if rate and rate > 0 else None


def _values(read: TemplateReading, line: str) -> dict[Meaning, float]:
    """Return the values of a line by meaning, in seconds and steps a second; rates of other things are left out."""
    numbers = NUMBER.findall(peel(line[:LONGEST]).body)
    return {
        slot.meaning: parse(numbers[slot.index]) * slot.scale
        for slot in read.slots
        if slot.index < len(numbers) and (slot.meaning is not Meaning.RATE or slot.unit == STEPS)
    }
