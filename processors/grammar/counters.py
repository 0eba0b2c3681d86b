"""Counters of a line: `k/N`, epoch and step beside each other, ranges, the bare number that a bar or a line begins with."""

import re
from collections.abc import Sequence
from dataclasses import replace

from . import units
from .fields import A_SECOND, STEPS_AFTER
from .names import Field, Meaning
from .numbers import is_duration

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


def fits(field: Field, number: str) -> bool:
    """Return whether `number` has a form that its meaning allows: a counter may be printed as `3.0`, but not as `0.527`."""
    if field.meaning is Meaning.STEP_TIME and _COUNTED.search(field.name):
        return not number.isdigit()  # `time/batch: 365` counts
    return field.meaning is not Meaning.STEP or len(number.rstrip("kKMG").partition(".")[2]) < _DECIMALS


_COUNTED = re.compile(r"(?i)\btime/\w+$|^time[_ ](?:step|iter|batch)$")
_DECIMALS = 2
"""Decimals from which a number counts no steps."""


def goes_on(fields: list[Field], index: int, texts: Sequence[str], numbers: Sequence[str]) -> bool:  # noqa: PLR0911  # a list of cases
    """Return whether number `index` belongs to the one before it: `N` of `k/N`, the end of a range, `100` of `5 s per 100 iters`."""
    before, after = texts[index], texts[index + 1]
    if fields and fields[-1].index == index:
        return True  # `5.3s` of `Time (100 iters): 5.3s`
    last = fields[-1] if fields and fields[-1].index == index - 1 else None
    if last and last.per == index:
        return True
    if last and last.meaning in (Meaning.STEP, Meaning.EPOCH) and is_whole(numbers[index]) and _counts_on(last, texts):
        fields[-1] = Field(last.index, Meaning.EPOCH, last.name)  # `Epoch: [3][250]`, `"step": [3, 250]`
        fields.append(Field(index, Meaning.STEP, last.name))
        return True
    if OF.match(before):
        if last and last.meaning in (Meaning.STEP, Meaning.EPOCH):
            fields.append(Field(index, Meaning.TOTAL, last.name))
        return True
    if last and last.meaning is Meaning.LOSS and not before.strip() and before and numbers[index - 1].isdigit():
        fields[-1] = Field(last.index, Meaning.STEP, "step")  # `train loss 250 0.311`
        fields.append(Field(index, Meaning.LOSS, last.name))
        return True
    if not _RANGE.match(before) or (before.strip() == "and" and "between" not in texts[index - 1]):
        return False
    if last and last.meaning is Meaning.STEP:
        name = f"{last.name} {RANGE}" if texts[index - 1].rstrip().endswith("[") else last.name
        fields[-1] = Field(index, Meaning.STEP, name)  # batches 0-50: the last one counts
        return True
    if last is None and STEPS_AFTER.match(after):
        fields.append(Field(index, Meaning.STEP, "batch"))  # 51-100batch
        return True
    return False


def _counts_on(last: Field, texts: Sequence[str]) -> bool:
    """Return whether the counter `last` is an epoch, and the number after it the step in it."""
    before, between, after = texts[last.index : last.index + 3]
    if last.meaning is Meaning.EPOCH and _SQUARE.match(between):
        return True
    if _BOTH.search(last.name) and OF.match(between):
        return True
    opened = before.rstrip().endswith(("[", "("))
    return opened and _COMMA.match(between) is not None and after.lstrip().startswith(("]", ")"))


def count_first(fields: list[Field], texts: Sequence[str], numbers: Sequence[str], counter: int) -> None:
    """Take the bare number at the start of a line for the counter, where there is no other and what follows is a report."""
    taken = {field.index for field in fields}
    meant = {field.meaning for field in fields}
    reported = not meant.isdisjoint(_REPORTED) or (Meaning.MEASURE in meant and any(map(is_duration, numbers)))
    counted = any(field.meaning is Meaning.STEP and is_whole(numbers[field.index]) for field in fields)
    if counter >= 0 or len(texts) < 3 or 0 in taken or counted or not reported:
        return
    head = "\0".join(texts[:3])
    if _EPOCH_FIRST.match(head) and numbers[0].isdigit() and numbers[1].isdigit():
        fields[:0] = [Field(0, Meaning.EPOCH, FIRST), Field(1, Meaning.STEP, FIRST)]
    elif _AFTER_CLOCK.match(head) and is_duration(numbers[0]) and numbers[1].isdigit():
        fields.insert(0, Field(1, Meaning.STEP, FIRST))  # `0:32:18 -   2600 -  43.0 sent/s`
    elif (_FIRST.match(head) and not is_duration(numbers[0])) or (
        _COLUMNS.match(head) and 1 in taken and numbers[0].isdigit()
    ):
        if Meaning.STEP in meant and not numbers[0].isdigit():
            return
        others = [field for field in fields if field.meaning is not Meaning.STEP]  # `[12] steps=158.3`: a mean
        fields[:] = [Field(0, Meaning.STEP, FIRST), *others]
    if _CLOCK_SECOND.match(head) and "." in numbers[1] and 1 not in taken:
        fields.insert(1, Field(1, Meaning.CLOCK, FIRST))


def with_counter(fields: list[Field], texts: Sequence[str], counter: int, bar: bool) -> tuple[bool, bool]:
    """Take an unnamed `k/N` for the step where no field is named so and the line is a bar or a report of an epoch.

    Args:
        fields: What is known; the counter is added.
        texts: Those around the numbers.
        counter: Index of the `k`; -1 for none.
        bar: A bar's clock was found.

    Returns:
        Whether the line draws a bar, and whether that bar counts steps.
    """
    bare = [field for field in fields if field.meaning is Meaning.RATE and A_SECOND.match(texts[field.index + 1])]
    drawn = bar or any(mark in text for text in texts for mark in ("%|", "━", "[=", "=]", "[>", "█", "[."))
    drawn = drawn or (counter >= 0 and any(_FILLED.search(text) for text in texts))
    if bar and counter >= 0:
        _own_unit(fields, texts, counter)
    if drawn and counter >= 0:
        _outer(fields, counter)
    step = any(field.meaning is Meaning.STEP for field in fields)
    timed = any(field.meaning in (Meaning.STEP_TIME, Meaning.RATE, Meaning.EPOCH, Meaning.LOSS) for field in fields)
    if drawn and counter >= 0 and not step and texts[1].startswith("%") and _EPOCHS_BAR.search(texts[0]):
        fields[:] = [field for field in fields if field.meaning not in (Meaning.STEP_TIME, Meaning.RATE)]  # of an epoch
        fields.append(Field(counter, Meaning.EPOCH, ""))
        counter = -1
    if counter >= 0 and not step and drawn:
        fields[:] = [replace(field, unit=units.STEPS) if field in bare else field for field in fields]
    if counter >= 0 and not step and (drawn or timed):
        paced = any(field.meaning in (Meaning.STEP_TIME, Meaning.RATE) for field in fields)
        epochs = not paced and any(_EPOCHS_PER.match(text) for text in texts[counter:])
        epochs = epochs or any(_EPOCHS_AFTER.match(text) for text in texts[counter + 1 : counter + 3])
        fields.append(Field(counter, Meaning.EPOCH if epochs else Meaning.STEP, ""))
        if counter + 2 < len(texts) and OF.match(texts[counter + 1]):
            fields.append(Field(counter + 1, Meaning.TOTAL, ""))
    return drawn, counter >= 0


def _outer(fields: list[Field], counter: int) -> None:
    """Take the counter named before a bar for that of a loop about it where the time of a step stands behind: it is one of the bar's."""
    ended = {field.name for field in fields if field.meaning is Meaning.TOTAL}
    if any(field.meaning is Meaning.STEP_TIME and field.name and field.index > counter for field in fields):
        fields[:] = [
            replace(field, meaning=Meaning.EPOCH)
            if field.meaning is Meaning.STEP and field.index < counter and field.name not in ended
            else field
            for field in fields
        ]


def _own_unit(fields: list[Field], texts: Sequence[str], counter: int) -> None:
    """Take the speed of a bar that names what it counts in a word of its own: of a bar's numbers, it is that of the counter."""
    if any(field.meaning in (Meaning.STEP_TIME, Meaning.RATE, Meaning.PERIOD) for field in fields):
        return
    for index in range(counter + 2, len(texts) - 1):
        after = texts[index + 1]
        found = _OF_ITS_OWN.match(after)
        if found and not _BYTES.match(after) and not _EPOCHS_PER.match(after):
            rate = found["second"] is not None
            fields.append(
                Field(index, Meaning.RATE if rate else Meaning.STEP_TIME, "", unit=units.STEPS if rate else "")
            )
            return
