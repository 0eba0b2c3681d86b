"""What all numbers of a line mean together.

A line is cut into the texts around its numbers. Only the texts and the forms of the numbers decide, so that a layout made for one line
holds for all lines of its template.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from . import names
from .counters import OF, OPEN_BAR, RANGE, count_first, fits, goes_on, is_whole, with_counter
from .fields import (
    LONGEST_NAME,
    OPENING,
    SEPARATOR,
    counts_before,
    field_of,
    loss_after,
    name_before,
    name_of,
    named_after,
    per_some,
    some_took,
    span,
    spans,
    unit_after,
)
from .names import Field, FieldLayout, Meaning
from .prescan import telling

LEADING = "leading"
"""Name of a counter that stands bare at the start of a line: a round of boosting."""
_LEADING = re.compile(r"\[\0\]\t\S.*:|\0:\t\S.*:")
_AT = re.compile(r"^(.*?)(?<!\s)\s++(?:at|for|after|of|in)\s++\S")
_DRAWN = re.compile(r"[\u2500-\u259f]+|(?<=\[)[=>.]+(?=\])|(?<=[\[|])[#=>*. -]{5,}(?=[\]|])")
"""What bars are drawn of: box and block characters, and `[===>...]`."""
_TIME_UNIT = re.compile(r"^\s?(?:us|µs|ms|s|sec|m|min|h|d|days?,?)(?![A-Za-z/])")
_LOSSES = re.compile(r"(?i)\bloss(?:es)?\s*+[:=]?+\s*+[\[({]?+\s*+[a-z_]++\s*+[:=]?+\s*+,")
"""A list of losses whose names follow, their numbers left out: of those, `total` is the one."""
_RIGHT = re.compile(r"%\s*\($")
_NUMBERS = re.compile("\0+")
_TOGETHER = re.compile(
    r"(?<![\0\w])(?![A-Za-z]+/s(?:ec)?\b|s/)"
    r"((?:[A-Za-z_]\w*+ )?)((?:[A-Za-z_]\w*+/){1,16}+[A-Za-z_]\w*+)((?: [A-Za-z_]\w*+)?\s*+[:=]\s*+)\0((?:/\0)++)(?!/)"
)
"""Several names before as many numbers: `loss box/class/total=`. A unit behind a number is none: `2.7it/s patience: 0/10`."""
_END = re.compile(r"(?i)_?(?:total|max|num|all)(?:_|$)|N$")
"""The second name in `step/total_step: 5/60`: not a field, but the end of the first."""


def field_layout(texts: Sequence[str], numbers: Sequence[str]) -> FieldLayout:  # noqa: C901, PLR0912  # a decision list
    """Return what `numbers` mean, which stand between `texts`. Of the numbers only the form counts, never a digit."""
    count, texts = len(numbers), _apart(texts)
    fields: list[Field] = []
    counter, bar, carried, evaluated = -1, False, "", False
    if count >= 2 and _LEADING.match("\0".join(texts[:2])):
        fields.append(Field(0, Meaning.STEP, LEADING))
    tells = telling(texts) if count else []
    for index in range(len(fields), count):
        if not (carried or True in tells[index : index + 3] or (fields and fields[-1].index >= index - 1)):
            continue  # nothing around it can mean anything
        before, after = texts[index], texts[index + 1]
        if (before.endswith("<") and fields) or _were_right(fields, index, before):
            continue
        if after.startswith("%"):
            fields += _share(index, name_before(before))
            continue
        if index and goes_on(fields, index, texts, numbers):
            continue
        name = name_of(index, before, carried)
        name = f"{name} loss" if name.lower() == "total" and _LOSSES.search("".join(texts[: index + 1])) else name
        unit = "" if counts_before(name, numbers[index], after) else unit_after(after)
        carried = ""
        evaluated = evaluated or names.evaluation(name)
        counted = loss_after(index, name, numbers[index], after)
        if spans(name, after):
            carried = name
            continue
        if some := counted or per_some(index, name, texts) or some_took(index, texts):
            fields.append(some)
            carried = name if counted else ""
            continue
        if found := _AT.match(before[-LONGEST_NAME:].strip(OPENING).split("\t")[-1]):
            carried = name_before(found[1])
        lossy = any(field.meaning is Meaning.LOSS for field in fields)
        field = field_of(index, name, unit, numbers[index]) or named_after(index, name, before, after, lossy)
        if field and fits(field, numbers[index]):
            fields.append(field)
        elif _clock_of_bar(texts, index):
            fields.append(Field(index, Meaning.CLOCK, "elapsed"))
            bar = True
        elif not bar and _counts(index, name, unit, texts, numbers) and not (name and _paced(fields, counter)):
            counter = index  # the last one before the elapsed time: bars may name the epoch first
        elif field := span(index, name, before, after):
            fields.append(field)
    fields = _whole_counters(fields, numbers)
    count_first(fields, texts, numbers, counter)
    drawn, counts = with_counter(fields, texts, counter, bar)
    shape = zlib.crc32(_shape(texts).encode("utf-8", "replace"))
    return FieldLayout(
        tuple(fields), bar=drawn and counts, shape=shape, scope=_scope(fields, texts), evaluated=evaluated
    )


def _apart(texts: Sequence[str]) -> Sequence[str]:
    """Return `texts` with a name of its own before each number: for `loss box/class = 1/2` as for `loss box = 1/ loss class = 2`."""
    return _TOGETHER.sub(_one_by_one, "\0".join(texts)).split("\0") if "/" in texts[1:-1] else texts


def _one_by_one(found: re.Match[str]) -> str:
    head, parts, tail = found[1], found[2].split("/"), found[3]
    if len(parts) != found[4].count("/") + 1 or (len(parts) == 2 and _END.match(parts[1])):
        return found[0]
    return "/ ".join(f"{head}{part}{tail}\0" for part in parts)


def _share(index: int, name: str) -> list[Field]:
    known = names.meaning(name)
    return [Field(index, Meaning.MEASURE, name)] if known is not None and known[0] is Meaning.MEASURE else []


def _counts(index: int, name: str, unit: str, texts: Sequence[str], numbers: Sequence[str]) -> bool:
    """Return whether number `index` may be a bar's unnamed counter."""
    before, after = texts[index], texts[index + 1]
    formed = is_whole(numbers[index]) or "|" in before or after.startswith("it/")
    return formed and _opens(after, unit) and not (name and before.endswith("="))


def _opens(after: str, unit: str) -> bool:
    """Return whether a number before `after` is the `k` of `k/N`, or counts without an end."""
    return (OF.match(after) is not None and unit in ("", "of")) or OPEN_BAR.match(after) is not None


def _whole_counters(fields: list[Field], numbers: Sequence[str]) -> list[Field]:
    """Return `fields` without fractions of counters where there is a whole one; times beside a range of steps are of all of them."""
    counters = [field for field in fields if field.meaning is Meaning.STEP]
    if any(is_whole(numbers[field.index]) for field in counters):  # `"update": 1.25, "num_updates": 250`
        fields = [field for field in fields if field not in counters or is_whole(numbers[field.index])]
    if any(field.name.endswith(RANGE) for field in counters):
        timed = (Meaning.TIME, Meaning.SPAN, Meaning.CLOCK)
        fields = [replace(field, name=f"{field.name} {RANGE}") if field.meaning in timed else field for field in fields]
    return fields


def _were_right(fields: Sequence[Field], index: int, before: str) -> bool:
    """Return whether number `index` says how many were right: `Acc: 45.1% (14/32)`."""
    return (
        _RIGHT.match(before) is not None
        and bool(fields)
        and fields[-1].index == index - 1
        and fields[-1].meaning is Meaning.MEASURE
    )


def _paced(fields: Sequence[Field], counter: int) -> bool:
    """Return whether a speed stands behind the counter that was found: what comes after is none of the bar's."""
    return counter >= 0 and any(field.meaning in (Meaning.RATE, Meaning.STEP_TIME) for field in fields)


def _clock_of_bar(texts: Sequence[str], index: int) -> bool:
    before = texts[index]
    if index and OPEN_BAR.match(before):
        return texts[index + 1].startswith((",", "<"))
    return texts[index + 1].startswith("<") and (before.rstrip(" ").endswith("[") or (index >= 2 and before == " "))


def _shape(texts: Sequence[str]) -> str:
    """Return what lines of one print statement have in common, however far a bar has grown and in which unit a time stands."""
    return _NUMBERS.sub("\0", "\0".join(map(_bare, texts)))


@lru_cache(maxsize=4096)
def _bare(text: str) -> str:
    return "".join(_TIME_UNIT.sub("", _DRAWN.sub("", text)).split())


_COUNTER_LAST = re.compile(r"(?i)(?<= )(?:ep|epoch|it|iter|iteration|step|batch)$")
_COUNTERS = (Meaning.STEP, Meaning.EPOCH, Meaning.TOTAL, Meaning.SPAN, Meaning.CLOCK, Meaning.LEFT)


def _scope(fields: Sequence[Field], texts: Sequence[str]) -> str:
    """Return what stands before the first measured field, the names of fields left out."""
    if len(texts) < 2:
        return texts[0]
    first = min((field.index for field in fields if field.meaning not in _COUNTERS), default=0)
    named = {field.index: field.name for field in fields}
    return "".join(_unnamed(texts[index], texts[index + 1], named.get(index, "")) for index in range(first + 1))


def _unnamed(text: str, after: str, name: str) -> str:
    """Return `text` without the name of the field at its end: that of a known one, or what stands before a `:` or `=`."""
    if not name and SEPARATOR.search(text.rstrip(" \t\"'")) and not OF.match(after):
        name = name_before(text)
        if names.evaluation(name) and " " in name:
            counter = _COUNTER_LAST.search(name)
            name = counter[0] if counter else ""  # `EVAL it=5`, `Evaluation total time: 62 s`
    place = text.rfind(name) if name else -1
    return text[:place] + text[place + len(name) :] if place >= 0 else text
