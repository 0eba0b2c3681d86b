"""The fields of a line: which of its numbers means what.

A line is cut into the texts around its numbers. A field's name is what stands before its number (`loss: `, `'loss': `, `loss=`,
`Loss `, `| loss | `), its unit what stands after it (` samples/sec`, `s/it`, `ms`). Only the texts decide, so that a plan made for one
line holds for all lines of its template.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from . import names, units
from .names import Meaning

_LONGEST_NAME = 100
"""Characters before a number that its name is looked for in."""

_OPENING = " \t\"'([{<*"
_SEPARATOR = re.compile(r"(?:[:=|]|->|=>|\bis|\bof|^\s*-)\s*$")
_NAME = re.compile(r"[A-Za-z_\u00aa-\uffff][^,;|\t{}\[\]\"'=:<>]*$")
_SCOPE = re.compile(r"(?i)\((?:train|training|global|avg|mean|smoothed)\)$")
_TAIL = re.compile(r"(?:^|\s)(?:at|for|of|in|after|on|from|the)\s+(?=[A-Za-z_])")
_AT = re.compile(r"^(.*?)\s+(?:at|for|after|of|in)\s+\S.*$")
_GLUE = re.compile(r"^[\s\"')\]}]*(?:is|[:=,-]|->|was)?\s*[\"'(\[]?\s*$")
_UNIT_AFTER = re.compile(
    r"^[\s\"'\[(]{0,3}([A-Za-zµ_]+(?:[ ]*/[ ]*[A-Za-z_]+(?:/[A-Za-z]+)?"
    r"|\s+per\s+[A-Za-z]+(?:\s+per\s+[A-Za-z]+)?|_per_[A-Za-z_]+)?)(?!\s*[:=]|\w)"
)
LEADING = "leading"
"""Name of a counter that stands bare at the start of a line."""

_LEADING = re.compile(r"\[\0\]\t\S.*:|\0:\t\S.*:")
_RANGE = re.compile(r"^\s*(?:-|\.\.|to)\s*$")
_A_SECOND = re.compile(r"\s?/s(?:ec)?(?![A-Za-z/])")
_OF = re.compile(r"^\s*(?:/|of|out of)\s*$")


@dataclass(frozen=True, slots=True)
class Slot:
    """Number `index` of a line and what it means: its value times `scale` is in seconds or in `unit`."""

    index: int
    meaning: Meaning
    name: str
    scale: float = 1.0
    unit: str = ""


_DRAWN = re.compile(r"[\u2500-\u259f]+|(?<=\[)[=>.]+(?=\])")
"""What bars are drawn of: box and block characters, and `[===>...]`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the numbers of a template mean.

    Attributes:
        slots: One for each number with a known meaning.
        bar: A progress bar: an unnamed counter `k/N` with a rate or an elapsed time.
        shape: Checksum of the template, blanks and the drawing of a bar left out: a bar that grows stays the same report.
        scope: The text before the first field: `Epoch`, `Validation`.
    """

    slots: tuple[Slot, ...]
    bar: bool = False
    shape: int = 0
    scope: str = ""

    def has(self, *meanings: Meaning) -> bool:
        """Return whether any slot has one of `meanings`."""
        return any(slot.meaning in meanings for slot in self.slots)


def name_before(text: str) -> str:
    """Return the field's name at the end of `text`, which stands before a number; empty where there is none."""
    text = text[-_LONGEST_NAME:].rstrip(_OPENING)
    text = _SEPARATOR.sub("", text).rstrip(" \t\"'*")
    if text.endswith("]"):
        text = text[:-1].rstrip()
    text = re.split(r"\s{2,}| - ", text)[-1]
    if text.endswith(")"):
        text = _SCOPE.sub("", text)
    found = _NAME.search(text)
    if not found:
        return ""
    name = found[0].strip(" .-\"'*")
    return _TAIL.split(name)[-1] if len(name.split()) > 1 else name


def _after(text: str) -> str:
    if _A_SECOND.match(text):
        return "/s"
    found = _UNIT_AFTER.match(text)
    return found[1].strip() if found else ""


def _rate_or_period(index: int, name: str, unit: str) -> Slot | None:
    if unit and (period := units.period(unit)) is not None:
        return Slot(index, Meaning.STEP_TIME, name, period)
    if unit == "/s":
        return Slot(index, Meaning.RATE, name, 1.0, units.SAMPLES)
    if unit and (rate := units.rate(unit)):
        device = "/gpu" if units.per_device(name) and not rate.unit.endswith("/gpu") else ""
        return Slot(index, Meaning.RATE, name, rate.scale, rate.unit + device)
    return None


def _slot(index: int, name: str, unit: str) -> Slot | None:
    """Return what number `index`, after `name` and before `unit`, means."""
    if name and names.evaluation(name):
        return None
    if slot := _rate_or_period(index, name, unit):
        return slot
    known = names.meaning(name) if name else None
    if known is None:
        return None
    what, scale, kind = known
    if what in (Meaning.STEP_TIME, Meaning.TIME, Meaning.CLOCK) and (seconds := units.time_after(unit)) is not None:
        scale = seconds
    return Slot(index, what, name, scale, kind)


def _clock_of_bar(texts: Sequence[str], index: int) -> bool:
    return texts[index].rstrip(" ").endswith("[") and texts[index + 1].startswith("<")


def plan(texts: Sequence[str]) -> Plan:  # noqa: C901  # a decision list
    """Return what the numbers between `texts` mean; there is one text more than there are numbers."""
    count = len(texts) - 1
    slots: list[Slot] = []
    counter, bar, carried = -1, False, ""
    if count >= 2 and _LEADING.match("\0".join(texts[:2])):
        slots.append(Slot(0, Meaning.STEP, LEADING))
    for index in range(len(slots), count):
        before, after = texts[index], texts[index + 1]
        if after.startswith("%") or (before.endswith("<") and slots):
            continue
        if index and _OF.match(before):
            if slots and slots[-1].index == index - 1 and slots[-1].meaning in (Meaning.STEP, Meaning.EPOCH):
                slots.append(Slot(index, Meaning.TOTAL, slots[-1].name))
            continue
        if (
            index
            and _RANGE.match(before)
            and slots
            and slots[-1].index == index - 1
            and slots[-1].meaning is Meaning.STEP
        ):
            slots[-1] = Slot(index, Meaning.STEP, slots[-1].name)  # batches 0-50: the last one counts
            continue
        name = name_before(before)
        if not name and carried and _GLUE.match(before):
            name = carried
        if len(name) == 1 and not before.rstrip().endswith((":", "=")):
            name = ""  # the end of a unit, as in `568/s (560/s)`
        unit = _after(after)
        carried = ""
        if found := _AT.match(before[-_LONGEST_NAME:].strip(_OPENING).split("\t")[-1]):
            carried = name_before(found[1])
        if slot := _slot(index, name, unit):
            slots.append(slot)
        elif _clock_of_bar(texts, index):
            slots.append(Slot(index, Meaning.CLOCK, "elapsed"))
            bar = True
        elif _OF.match(after) and not bar and not unit:
            counter = index  # the last one before the elapsed time: bars may name the epoch first
    return _with_counter(slots, texts, counter, bar)


def _with_counter(slots: list[Slot], texts: Sequence[str], counter: int, bar: bool) -> Plan:
    """Take an unnamed `k/N` for the step where no field is named so and the line is a bar or a report of an epoch."""
    drawn = bar or any(mark in text for text in texts for mark in ("%|", "━", "[=", "=]", "[>", "█", "[."))
    step = any(slot.meaning is Meaning.STEP for slot in slots)
    timed = any(slot.meaning in (Meaning.STEP_TIME, Meaning.RATE, Meaning.EPOCH, Meaning.LOSS) for slot in slots)
    if counter >= 0 and not step and (drawn or timed):
        slots.append(Slot(counter, Meaning.STEP, ""))
        slots.append(Slot(counter + 1, Meaning.TOTAL, ""))
    shape = zlib.crc32("\0".join("".join(_DRAWN.sub("", text).split()) for text in texts).encode("utf-8", "replace"))
    return Plan(tuple(slots), bar=drawn and counter >= 0, shape=shape, scope=texts[0])
