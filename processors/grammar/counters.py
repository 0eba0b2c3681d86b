"""Counters of a line: `k/N`, epoch and step beside each other, ranges, the bare number that a bar or a line begins with."""

import re
from collections.abc import Sequence
from dataclasses import replace

from . import units
from .fields import A_SECOND, STEPS_AFTER
from .names import Meaning
from .numbers import is_duration
from .slots import Slot

FIRST = "first"
"""Name of a counter that stands bare at the start of a line, beside a named loss or speed."""
_FIRST = re.compile(
    r"^[\s\[(#>]*\0(?:\s*[\]):|\t,]|\s+-\s)|^\s*(?:#\0\s|\0\s{2,}[A-Za-z_])|^\W*[Tt]rain(?:ing)?\s*\[\0\]"
)
_EPOCH_FIRST = re.compile(r"^\s*\[\s*\0\s*(?:\]\s+\0\s*[|:,]|,\s+\0\s*\])")
_COLUMNS = re.compile(r"^\s*\0\s+\0")
_AFTER_CLOCK = re.compile(r"^\W*\0\s+[-|]\s+\0\s+[-|]\s")
_CLOCK_SECOND = re.compile(r"^\W*\[\s*\0\s*\|\s*\0\s*\]")
_REPORTED = (Meaning.STEP_TIME, Meaning.RATE, Meaning.LOSS, Meaning.COUNT, Meaning.TIME, Meaning.SPAN)
OF = re.compile(r"^\s*(?:(?:its?|steps?)\s*)?(?:/|of|out of)\s*$")
RANGE = "interval"
"""What is added to the name of a counter that is printed as a range in brackets: its times are of all its steps."""
OPEN_BAR = re.compile(r"^(?:/\?|it|batch(?:es)?|steps?)\s+\[$")
PATTERNS = (OF.pattern, OPEN_BAR.pattern, "^<")
"""What links a number without a name to the next one; behind a bar's clock `<` stands before what remains."""
_RANGE = re.compile(r"^\s*(?:-|\.\.|to|and)\s*$")
_SQUARE = re.compile(r"^\s*\]\s*\[\s*$")
_COMMA = re.compile(r"^\s*,\s*$")
_BOTH = re.compile(r"(?i)\bepochs?\s*/\s*(?:iter(?:ation)?s?|steps?|batch(?:es)?)$")
_EPOCHS_BAR = re.compile(r"(?i)(?:^|\W)(?:epochs?(?: progress)?|total progress)\s*+[:|]?+\s*+$")
_EPOCHS_PER = re.compile(r"\s?(?:epochs?/s|s/epochs?)\b")
_OF_ITS_OWN = re.compile(r"\s?(?:[A-Za-z]+/(?P<second>s)\b|(?P<seconds>s)/[A-Za-z]+)(?=\s?[\],])")
"""A unit that a bar was given for what it counts: `11.3trial/s`."""
_BYTES = re.compile(r"\s?[kKMGT]?i?[Bb]/s")
_EPOCHS_AFTER = re.compile(r"(?i)^\s*(?:epochs?\b|个?轮)")
_FILLED = re.compile(r"[\[|]\s?[#=>*█▓▒░▏▎▍▌▋▊▉\-. ]{5,}[\]|]")


def is_whole(number: str) -> bool:
    """Return whether `number` has the form of a counter's."""
    return "." not in number and not is_duration(number)


def fits(slot: Slot, number: str) -> bool:
    """Return whether `number` has a form that its meaning allows: a counter may be printed as `3.0`, but not as `0.527`."""
    if slot.meaning is Meaning.STEP_TIME and _COUNTED.search(slot.name):
        return not number.isdigit()  # `time/batch: 365` counts
    return slot.meaning is not Meaning.STEP or len(number.rstrip("kKMG").partition(".")[2]) < _DECIMALS


_COUNTED = re.compile(r"(?i)\btime/\w+$|^time[_ ](?:step|iter|batch)$")
_DECIMALS = 2
"""Decimals from which a number counts no steps."""


def goes_on(slots: list[Slot], index: int, texts: Sequence[str], numbers: Sequence[str]) -> bool:  # noqa: PLR0911  # a list of cases
    """Return whether number `index` belongs to the one before it: `N` of `k/N`, the end of a range, `100` of `5 s per 100 iters`."""
    before, after = texts[index], texts[index + 1]
    if slots and slots[-1].index == index:
        return True  # `5.3s` of `Time (100 iters): 5.3s`
    last = slots[-1] if slots and slots[-1].index == index - 1 else None
    if last and last.per == index:
        return True
    if last and last.meaning in (Meaning.STEP, Meaning.EPOCH) and is_whole(numbers[index]) and _counts_on(last, texts):
        slots[-1] = Slot(last.index, Meaning.EPOCH, last.name)  # `Epoch: [3][250]`, `"step": [3, 250]`
        slots.append(Slot(index, Meaning.STEP, last.name))
        return True
    if OF.match(before):
        if last and last.meaning in (Meaning.STEP, Meaning.EPOCH):
            slots.append(Slot(index, Meaning.TOTAL, last.name))
        return True
    if last and last.meaning is Meaning.LOSS and not before.strip() and before and numbers[index - 1].isdigit():
        slots[-1] = Slot(last.index, Meaning.STEP, "step")  # `train loss 250 0.311`
        slots.append(Slot(index, Meaning.LOSS, last.name))
        return True
    if not _RANGE.match(before) or (before.strip() == "and" and "between" not in texts[index - 1]):
        return False
    if last and last.meaning is Meaning.STEP:
        name = f"{last.name} {RANGE}" if texts[index - 1].rstrip().endswith("[") else last.name
        slots[-1] = Slot(index, Meaning.STEP, name)  # batches 0-50: the last one counts
        return True
    if last is None and STEPS_AFTER.match(after):
        slots.append(Slot(index, Meaning.STEP, "batch"))  # 51-100batch
        return True
    return False


def _counts_on(last: Slot, texts: Sequence[str]) -> bool:
    """Return whether the counter `last` is an epoch, and the number after it the step in it."""
    before, between, after = texts[last.index : last.index + 3]
    if last.meaning is Meaning.EPOCH and _SQUARE.match(between):
        return True
    if _BOTH.search(last.name) and OF.match(between):
        return True
    opened = before.rstrip().endswith(("[", "("))
    return opened and _COMMA.match(between) is not None and after.lstrip().startswith(("]", ")"))


def count_first(slots: list[Slot], texts: Sequence[str], numbers: Sequence[str], counter: int) -> None:
    """Take the bare number at the start of a line for the counter, where there is no other and what follows is a report."""
    taken = {slot.index for slot in slots}
    meant = {slot.meaning for slot in slots}
    reported = not meant.isdisjoint(_REPORTED) or (Meaning.MEASURE in meant and any(map(is_duration, numbers)))
    counted = any(slot.meaning is Meaning.STEP and is_whole(numbers[slot.index]) for slot in slots)
    if counter >= 0 or len(texts) < 3 or 0 in taken or counted or not reported:
        return
    head = "\0".join(texts[:3])
    if _EPOCH_FIRST.match(head) and numbers[0].isdigit() and numbers[1].isdigit():
        slots[:0] = [Slot(0, Meaning.EPOCH, FIRST), Slot(1, Meaning.STEP, FIRST)]
    elif _AFTER_CLOCK.match(head) and is_duration(numbers[0]) and numbers[1].isdigit():
        slots.insert(0, Slot(1, Meaning.STEP, FIRST))  # `0:32:18 -   2600 -  43.0 sent/s`
    elif (_FIRST.match(head) and not is_duration(numbers[0])) or (
        _COLUMNS.match(head) and 1 in taken and numbers[0].isdigit()
    ):
        if Meaning.STEP in meant and not numbers[0].isdigit():
            return
        others = [slot for slot in slots if slot.meaning is not Meaning.STEP]  # `[12] steps=158.3`: a mean
        slots[:] = [Slot(0, Meaning.STEP, FIRST), *others]
    if _CLOCK_SECOND.match(head) and "." in numbers[1] and 1 not in taken:
        slots.insert(1, Slot(1, Meaning.CLOCK, FIRST))


def with_counter(slots: list[Slot], texts: Sequence[str], counter: int, bar: bool) -> tuple[bool, bool]:
    """Take an unnamed `k/N` for the step where no field is named so and the line is a bar or a report of an epoch.

    Args:
        slots: What is known; the counter is added.
        texts: Those around the numbers.
        counter: Index of the `k`; -1 for none.
        bar: A bar's clock was found.

    Returns:
        Whether the line draws a bar, and whether that bar counts steps.
    """
    bare = [slot for slot in slots if slot.meaning is Meaning.RATE and A_SECOND.match(texts[slot.index + 1])]
    drawn = bar or any(mark in text for text in texts for mark in ("%|", "━", "[=", "=]", "[>", "█", "[."))
    drawn = drawn or (counter >= 0 and any(_FILLED.search(text) for text in texts))
    if bar and counter >= 0:
        _own_unit(slots, texts, counter)
    if drawn and counter >= 0:
        _outer(slots, counter)
    step = any(slot.meaning is Meaning.STEP for slot in slots)
    timed = any(slot.meaning in (Meaning.STEP_TIME, Meaning.RATE, Meaning.EPOCH, Meaning.LOSS) for slot in slots)
    if drawn and counter >= 0 and not step and texts[1].startswith("%") and _EPOCHS_BAR.search(texts[0]):
        slots[:] = [slot for slot in slots if slot.meaning not in (Meaning.STEP_TIME, Meaning.RATE)]  # of an epoch
        slots.append(Slot(counter, Meaning.EPOCH, ""))
        counter = -1
    if counter >= 0 and not step and drawn:
        slots[:] = [replace(slot, unit=units.STEPS) if slot in bare else slot for slot in slots]
    if counter >= 0 and not step and (drawn or timed):
        paced = any(slot.meaning in (Meaning.STEP_TIME, Meaning.RATE) for slot in slots)
        epochs = not paced and any(_EPOCHS_PER.match(text) for text in texts[counter:])
        epochs = epochs or any(_EPOCHS_AFTER.match(text) for text in texts[counter + 1 : counter + 3])
        slots.append(Slot(counter, Meaning.EPOCH if epochs else Meaning.STEP, ""))
        if counter + 2 < len(texts) and OF.match(texts[counter + 1]):
            slots.append(Slot(counter + 1, Meaning.TOTAL, ""))
    return drawn, counter >= 0


def _outer(slots: list[Slot], counter: int) -> None:
    """Take the counter named before a bar for that of a loop about it where the time of a step stands behind: it is one of the bar's."""
    ended = {slot.name for slot in slots if slot.meaning is Meaning.TOTAL}
    if any(slot.meaning is Meaning.STEP_TIME and slot.name and slot.index > counter for slot in slots):
        slots[:] = [
            replace(slot, meaning=Meaning.EPOCH)
            if slot.meaning is Meaning.STEP and slot.index < counter and slot.name not in ended
            else slot
            for slot in slots
        ]


def _own_unit(slots: list[Slot], texts: Sequence[str], counter: int) -> None:
    """Take the speed of a bar that names what it counts in a word of its own: of a bar's numbers, it is that of the counter."""
    if any(slot.meaning in (Meaning.STEP_TIME, Meaning.RATE, Meaning.PERIOD) for slot in slots):
        return
    for index in range(counter + 2, len(texts) - 1):
        after = texts[index + 1]
        found = _OF_ITS_OWN.match(after)
        if found and not _BYTES.match(after) and not _EPOCHS_PER.match(after):
            rate = found["second"] is not None
            slots.append(Slot(index, Meaning.RATE if rate else Meaning.STEP_TIME, "", unit=units.STEPS if rate else ""))
            return
