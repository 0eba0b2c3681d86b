"""Counters of a line: `k/N`, epoch and step side by side, ranges, the bare number that a bar or a line begins with."""

import re
from collections.abc import Sequence
from dataclasses import replace

from . import units
from .fields import A_SECOND, name_before
from .names import Field, Meaning, is_no_step
from .numbers import is_ambiguous, is_duration

FIRST = "first"
"""Name of a counter without a name at the start of a line."""
RANGE = "interval"
"""Suffix of the name of a counter that is printed as a range in brackets. Times in that line are of all its steps."""
OF = re.compile(r"^\s*(?:(?:its?|steps?)\s*)?(?:/|of|out of)\s*$")
OPEN_BAR = re.compile(r"^(?:/\?|it|batch(?:es)?|steps?)\s+\[$")
_FORMS = {
    "first": re.compile(
        r"^[\s\[(#>]*\0(?:\s*[\]):|\t,]|\s+-\s)|^\s*(?:#\0\s|\0\s{2,}[A-Za-z_])|^\W*[Tt]rain(?:ing)?\s*\[\0\]"
    ),
    "epoch_first": re.compile(r"^\s*\[\s*\0\s*(?:\]\s+\0\s*[|:,]|,\s+\0\s*\])"),
    "range": re.compile(r"^\s*(?:-|\.\.|to)\s*$"),
    "batches": re.compile(r"(?i)^\s*(?:iters?|iterations?|steps?|batch(?:es)?)\b"),
    "after_clock": re.compile(r"^\W*\0\s+[-|]\s+\0\s+[-|]\s"),  # `0:32:18 -   2600 -  43.0 sent/s`
    "clock_second": re.compile(r"^\W*\[\s*\0\s*\|\s*\0\s*\]"),
    # How far a bar has come.
    "filled": re.compile(r"[\[|]\s?[#=>*█▓▒░▏▎▍▌▋▊▉\-. ]{5,}[\]|]"),
    "square": re.compile(r"^\s*\]\s*\[\s*$"),
    "comma": re.compile(r"^\s*,\s*$"),
    "bar_of_epochs": re.compile(r"(?i)(?:^|\W)(?:epochs?(?: progress)?|total progress)\s*+[:|]?+\s*+$"),
    "unit_of_bar": re.compile(r"\s?(?:(?P<counted>[A-Za-z]+)/s|s/(?P<timed>[A-Za-z]+))\b"),
    "time_of": re.compile(r"(?i)\btime/\w+$|^time[_ ](?:step|iter|batch)$"),
}
_SPEEDS = (Meaning.STEP_TIME, Meaning.RATE)
_FRACTIONS = (Meaning.LOSS, Meaning.STEP_TIME, Meaning.TIME)
_REPORTED = {*_SPEEDS, Meaning.LOSS, Meaning.COUNT, Meaning.TIME, Meaning.SPAN}


def is_whole(number: str) -> bool:
    """Return whether `number` has the form of a counter's."""
    return "." not in number and not is_duration(number)


def fits(field: Field, number: str) -> bool:
    """Return whether `number` has a form that its meaning allows: a counter may be printed as `3.0`, but not as `0.527`."""
    if field.meaning is Meaning.STEP_TIME and _FORMS["time_of"].search(field.name):
        return not number.isdigit()  # `time/batch: 365` counts batches
    if field.meaning in _FRACTIONS and is_ambiguous(number):
        return False
    return field.meaning is not Meaning.STEP or len(number.rstrip("kKMG").partition(".")[2]) < 2


def is_continuation(fields: list[Field], index: int, texts: Sequence[str], numbers: Sequence[str]) -> bool:  # noqa: PLR0911  # a list of cases
    """Return whether number `index` belongs to the one before it: `N` of `k/N`, the step after an epoch, the end of a range."""
    before = texts[index]
    last = fields[-1] if fields and fields[-1].index >= index - 1 else None
    if last and index in (last.index, last.per):
        return True
    if last and last.meaning is Meaning.LOSS and before.isspace() and numbers[index - 1].isdigit():
        fields[-1:] = [Field(last.index, Meaning.STEP, "step"), Field(index, Meaning.LOSS, last.name)]
        return True  # `train loss 250 0.311`
    if last and last.meaning in (Meaning.STEP, Meaning.EPOCH):
        if is_whole(numbers[index]) and _is_step_after_epoch(last, texts):
            fields[-1:] = [Field(last.index, Meaning.EPOCH, last.name), Field(index, Meaning.STEP, last.name)]
            return True
        if OF.match(before):
            fields.append(Field(index, Meaning.TOTAL, last.name))
            return True
        between = before.strip() == "and" and "between" in texts[index - 1]
        if last.meaning is Meaning.STEP and (between or _FORMS["range"].match(before)):
            name = f"{last.name} {RANGE}" if texts[index - 1].rstrip().endswith("[") else last.name
            fields[-1] = Field(index, Meaning.STEP, name)  # of batches 0-50 the last one counts
            return True
    if last is None and _FORMS["range"].match(before) and _FORMS["batches"].match(texts[index + 1]):
        fields.append(Field(index, Meaning.STEP, "batch"))  # `51-100batch`
        return True
    return OF.match(before) is not None


def _is_step_after_epoch(last: Field, texts: Sequence[str]) -> bool:
    """Return whether the counter `last` is an epoch and the next number its step: `Epoch: [3][250]`, `"step": [3, 250]`."""
    before, between, after = texts[last.index : last.index + 3]
    if last.meaning is Meaning.EPOCH and _FORMS["square"].match(between):
        return True
    opened = before.rstrip().endswith(("[", "("))
    return opened and _FORMS["comma"].match(between) is not None and after.lstrip().startswith(("]", ")"))


def add_first_counter(fields: list[Field], texts: Sequence[str], numbers: Sequence[str]) -> None:
    """Add the bare number at the start of a line as the step, where no field is a step and what follows is a report."""
    meant = {field.meaning for field in fields}
    counted = any(field.meaning is Meaning.STEP and is_whole(numbers[field.index]) for field in fields)
    measured = Meaning.MEASURE in meant and any(map(is_duration, numbers))  # `[1,200] accuracy: 81.3% | 00:04:30`
    reported = measured or not meant.isdisjoint(_REPORTED)
    if len(texts) < 3 or counted or not reported or any(not field.index for field in fields):
        return
    head = "\0".join(texts[:3])
    if _FORMS["epoch_first"].match(head) and numbers[0].isdigit() and numbers[1].isdigit():
        fields[:0] = [Field(0, Meaning.EPOCH, FIRST), Field(1, Meaning.STEP, FIRST)]  # `[3, 250] loss: 0.31`
    elif _FORMS["after_clock"].match(head) and is_duration(numbers[0]) and numbers[1].isdigit():
        fields.insert(0, Field(1, Meaning.STEP, FIRST))
    elif _FORMS["first"].match(head) and is_whole(numbers[0]):
        others = [field for field in fields if field.meaning is not Meaning.STEP]  # `[12] steps=158.3`: a mean
        is_clock = (
            _FORMS["clock_second"].match(head) and "." in numbers[1] and all(field.index != 1 for field in others)
        )
        clock = [Field(1, Meaning.CLOCK, FIRST)] if is_clock else []  # `[10 | 17.50] loss=2.31`
        fields[:] = [Field(0, Meaning.STEP, FIRST), *clock, *others]


def is_filled(texts: Sequence[str]) -> bool:
    """Return whether a bar is drawn in `texts` by signs of its own: `|#####   |`."""
    return any(map(_FORMS["filled"].search, texts))


def add_bare_counter(fields: list[Field], texts: Sequence[str], counter: int, *, drawn: bool) -> bool:
    """Add an unnamed `k/N` as the step, or as the epoch of a bar of epochs. Return whether it counts steps.

    Args:
        fields: The known fields of the line.
        texts: The texts around its numbers.
        counter: Index of the `k`.
        drawn: The line is a progress bar.
    """
    if drawn:
        _set_outer_counter(fields, counter)
    if any(field.meaning is Meaning.STEP for field in fields):
        return True
    timed = any(field.meaning in (*_SPEEDS, Meaning.EPOCH, Meaning.LOSS) for field in fields)
    if (not drawn and not timed) or is_no_step(name_before(texts[counter])):
        return True
    counts = Meaning.STEP
    if drawn:
        counts = _add_speed_of_bar(fields, texts, counter)
        if texts[1].startswith("%") and _FORMS["bar_of_epochs"].search(texts[0]):
            fields[:] = [field for field in fields if field.meaning not in _SPEEDS]
            fields.append(Field(counter, Meaning.EPOCH, ""))
            return False
    fields.append(Field(counter, counts, ""))
    if counter + 2 < len(texts) and OF.match(texts[counter + 1]):
        fields.append(Field(counter + 1, Meaning.TOTAL, ""))
    return True


def _set_outer_counter(fields: list[Field], counter: int) -> None:
    """Set the counter before a bar to that of an outer loop if a step time follows the bar: `Iter: 7 |##| (28/28) Batch: 0.03s`."""
    ended = {field.name for field in fields if field.meaning is Meaning.TOTAL}
    if any(field.meaning is Meaning.STEP_TIME and field.name and field.index > counter for field in fields):
        fields[:] = [
            replace(field, meaning=Meaning.EPOCH)
            if field.meaning is Meaning.STEP and field.index < counter and field.name not in ended
            else field
            for field in fields
        ]


def _add_speed_of_bar(fields: list[Field], texts: Sequence[str], counter: int) -> Meaning:
    """Add the speed of a bar that names what it counts by a word of its own (`11.3trial/s`). Return what the bar counts."""
    fields[:] = [
        replace(field, unit=units.STEPS)
        if field.meaning is Meaning.RATE and A_SECOND.match(texts[field.index + 1])
        else field
        for field in fields
    ]
    if any(field.meaning in (*_SPEEDS, Meaning.PERIOD) for field in fields):
        return Meaning.STEP
    for index in range(counter + 2, len(texts) - 1):
        found = _FORMS["unit_of_bar"].match(texts[index + 1])
        word = (found["counted"] or found["timed"]).lower() if found else ""
        if word.startswith("epoch"):
            return Meaning.EPOCH
        if word and not word.endswith("b"):  # `12.3MB` is what a download counts
            rate = found is not None and found["counted"] is not None
            unit = units.STEPS if rate else ""
            fields.append(Field(index, Meaning.RATE if rate else Meaning.STEP_TIME, "", unit=unit))
            break
    return Meaning.STEP
