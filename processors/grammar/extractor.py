"""From a line to its fields, by a plan that is worked out once for each template."""

import re
from dataclasses import dataclass

from . import mllog, stamps
from .cache import GenerationCache
from .fields import Plan, Slot, plan
from .numbers import NUMBER, parse
from .prefix import peel

LONGEST = 4000
"""Characters of a line that are looked at."""

_DATE = re.compile(r"[\[(]?\d{4}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?[\])]?")


@dataclass(slots=True)
class Reading:
    """The fields of one line: values in seconds or a second, by slot; `stamp` is the printed time in seconds."""

    plan: Plan
    values: list[tuple[Slot, float]]
    stamp: float | None
    shape: str


class Extractor:
    """Reads the fields of lines. What it learns of a template is kept in a bounded cache."""

    def __init__(self, size: int = 20_000) -> None:
        self._plans: GenerationCache[Plan] = GenerationCache(size)

    def plan(self, body: str) -> Plan:
        """Return what the numbers of `body`, a peeled line, mean."""
        return self._look_up(NUMBER.split(_DATE.sub("", body[:LONGEST])))[0]

    def read(self, line: str) -> Reading:
        """Return the fields of `line`, as printed: colours, prefix and all."""
        peeled = peel(line[:LONGEST])
        if (event := mllog.read(peeled.body)) is not None:
            values = [(slot, slot.scale * value) for slot, value in event.values]
            return Reading(Plan(tuple(slot for slot, _ in event.values)), values, event.stamp, event.key)
        body, stamp = peeled.body, peeled.stamp
        if found := _DATE.search(body):
            stamp = stamp or found[0].strip("[]()")
            body = _DATE.sub("", body)
        parts = NUMBER.split(body)
        known, shape = self._look_up(parts)
        numbers = parts[1::2]
        values = [(slot, parse(numbers[slot.index]) * slot.scale) for slot in known.slots]
        return Reading(known, values, stamps.seconds(stamp) if stamp else None, shape)

    def _look_up(self, parts: list[str]) -> tuple[Plan, str]:
        texts = parts[::2]
        shape = "\x00".join(texts)
        known = self._plans.get(shape)
        if known is None:
            known = plan(texts)
            self._plans.put(shape, known)
        return known, shape
