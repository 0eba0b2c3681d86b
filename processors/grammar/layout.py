"""Meanings of all numbers of a line.

A line is cut into the texts around its numbers. Only the texts and the forms of the numbers decide, so a layout made for one line holds for
all lines of its template.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from . import names
from .counters import (
    OF,
    OPEN_BAR,
    RANGE,
    add_bare_counter,
    add_first_counter,
    fits,
    is_continuation,
    is_filled,
    is_whole,
)
from .fields import (
    LONGEST_NAME,
    OPENING,
    SEPARATOR,
    WINDOW,
    count_after_loss,
    counts_before,
    field_of,
    name_before,
    name_of,
    named_after,
    span,
    time_of_steps,
    unit_after,
)
from .names import Field, FieldLayout, Meaning

LEADING = "leading"
"""Name of a counter without a name before tab-separated fields: a round of boosting."""
_BAR_MARKS = ("%|", "━", "[=", "=]", "[>", "█", "[.")
_FORMS = {
    "leading": re.compile(r"\[\0\]\t\S.*:|\0:\t\S.*:"),
    "at": re.compile(r"^(.*?)(?<!\s)\s++(?:at|between|for|after|of|in)\s++\S"),
    # What bars are drawn of: box and block characters, and `[===>...]`.
    "drawn": re.compile(r"[\u2500-\u259f]+|(?<=\[)[=>.]+(?=\])|(?<=[\[|])[#=>*. -]{5,}(?=[\]|])"),
    "time_unit": re.compile(r"^\s?(?:us|µs|ms|s|sec|m|min|h|d|days?,?)(?![A-Za-z/])"),
    "numbers": re.compile("\0+"),
    # Several names before as many numbers: `loss box/class/total=`. A unit after a number is none: `2.7it/s patience: 0/10`.
    "joined": re.compile(
        r"(?<![\0\w])(?![A-Za-z]+/s(?:ec)?\b|s/)"
        r"((?:[A-Za-z_]\w*+ )?)((?:[A-Za-z_]\w*+/){1,16}+[A-Za-z_]\w*+)((?: [A-Za-z_]\w*+)?\s*+[:=]\s*+)\0((?:/\0)++)(?!/)"
    ),
    "end": re.compile(r"(?i)_?(?:total|max|num|all)(?:_|$)|N$"),
}


def field_layout(texts: Sequence[str], numbers: Sequence[str]) -> FieldLayout:  # noqa: C901, PLR0912  # a decision list
    """Return what `numbers` mean, which are printed between `texts`. Of the numbers only the form counts, never a digit."""
    texts = _with_names_apart(texts)
    fields: list[Field] = []
    counter, bar, carried, evaluated = -1, False, "", False
    if len(numbers) >= 2 and _FORMS["leading"].match("\0".join(texts[:2])):
        fields.append(Field(0, Meaning.STEP, LEADING))
    for index in range(len(fields), len(numbers)):
        before, after = texts[index], texts[index + 1]
        if fields and (before.endswith("<") or (before == "% (" and fields[-1].meaning is Meaning.MEASURE)):
            continue  # the time that a bar expects to need; `Acc: 45.1% (14/32)`
        if after.startswith("%"):
            fields += _share(index, name_before(before))
            continue
        if index and is_continuation(fields, index, texts, numbers):
            continue
        name = name_of(index, before, carried)
        unit = "" if counts_before(name, numbers[index], after) else unit_after(after)
        evaluated = evaluated or names.evaluation(name)
        counted = count_after_loss(fields, index, name, numbers[index], after)
        if some := counted or time_of_steps(index, name, texts):
            fields.append(some)
            carried = name if counted else ""
            continue
        if WINDOW.match(after) or (name and before.endswith((" last ", " past "))):
            carried = name
            continue
        found = _FORMS["at"].match(before[-LONGEST_NAME:].strip(OPENING).split("\t")[-1])
        carried = name_before(found[1]) if found else ""
        field = field_of(index, name, unit, numbers[index]) or named_after(fields, index, name, before, after)
        if field and fits(field, numbers[index]):
            fields.append(field)
        elif _is_clock_of_bar(texts, index):
            fields.append(Field(index, Meaning.CLOCK, "elapsed"))
            bar = True
        elif not bar and not (name and counter >= 0) and _may_count(index, name, unit, texts, numbers):
            counter = index  # the last one before the elapsed time, because bars may name the epoch first
        elif field := span(index, name, before, after):
            fields.append(field)
    fields = _without_fractions(fields, numbers)
    drawn = bar or any(mark in text for text in texts for mark in _BAR_MARKS) or (counter >= 0 and is_filled(texts))
    counts = False
    if counter < 0:
        add_first_counter(fields, texts, numbers)
    else:
        counts = add_bare_counter(fields, texts, counter, drawn=drawn)
    return FieldLayout(
        tuple(fields),
        bar=drawn and counts,
        shape=zlib.crc32(_shape(texts).encode("utf-8", "replace")),
        scope=_scope(fields, texts),
        evaluated=evaluated,
    )


def _with_names_apart(texts: Sequence[str]) -> Sequence[str]:
    """Return `texts` with one name before each number: for `loss box/class = 1/2` as for `loss box = 1/ loss class = 2`."""
    return _FORMS["joined"].sub(_separate, "\0".join(texts)).split("\0") if "/" in texts[1:-1] else texts


def _separate(found: re.Match[str]) -> str:
    head, parts, tail = found[1], found[2].split("/"), found[3]
    is_end = len(parts) == 2 and _FORMS["end"].match(parts[1])  # `step/total_step: 5/60`
    if len(parts) != found[4].count("/") + 1 or is_end:
        return found[0]
    return "/ ".join(f"{head}{part}{tail}\0" for part in parts)


def _share(index: int, name: str) -> list[Field]:
    known = names.meaning(name)
    return [Field(index, Meaning.MEASURE, name)] if known is not None and known[0] is Meaning.MEASURE else []


def _may_count(index: int, name: str, unit: str, texts: Sequence[str], numbers: Sequence[str]) -> bool:
    """Return whether number `index` may be the unnamed counter of a bar: the `k` of `k/N`, or a count without an end."""
    before, after = texts[index], texts[index + 1]
    formed = is_whole(numbers[index]) or "|" in before or after.startswith("it/")
    opens = (OF.match(after) is not None and unit in ("", "of")) or OPEN_BAR.match(after) is not None
    return formed and opens and not (name and before.endswith("="))


def _without_fractions(fields: list[Field], numbers: Sequence[str]) -> list[Field]:
    """Return `fields` without fractions of counters where there is a whole one. Times after a range of steps are of all of them."""
    counters = [field for field in fields if field.meaning is Meaning.STEP]
    if any(is_whole(numbers[field.index]) for field in counters):  # `"update": 1.25, "num_updates": 250`
        fields = [field for field in fields if field not in counters or is_whole(numbers[field.index])]
    if any(field.name.endswith(RANGE) for field in counters):
        timed = (Meaning.TIME, Meaning.SPAN, Meaning.CLOCK)
        fields = [replace(field, name=f"{field.name} {RANGE}") if field.meaning in timed else field for field in fields]
    return fields


def _is_clock_of_bar(texts: Sequence[str], index: int) -> bool:
    before, after = texts[index], texts[index + 1]
    if index and OPEN_BAR.match(before):
        return after.startswith((",", "<"))
    return after.startswith("<") and (before.rstrip(" ").endswith("[") or (index >= 2 and before == " "))


def _shape(texts: Sequence[str]) -> str:
    """Return what lines of one print statement have in common, however far a bar has grown and whichever unit a time has."""
    return _FORMS["numbers"].sub("\0", "\0".join(map(_bare, texts)))


@lru_cache(maxsize=4096)
def _bare(text: str) -> str:
    return "".join(_FORMS["time_unit"].sub("", _FORMS["drawn"].sub("", text)).split())


_COUNTERS = (Meaning.STEP, Meaning.EPOCH, Meaning.TOTAL, Meaning.SPAN, Meaning.CLOCK, Meaning.LEFT)


def _scope(fields: Sequence[Field], texts: Sequence[str]) -> str:
    """Return the text before the first measured field, without the names of fields."""
    if len(texts) < 2:
        return texts[0]
    first = min((field.index for field in fields if field.meaning not in _COUNTERS), default=0)
    named = {field.index: field.name for field in fields}
    return "".join(_unnamed(texts[index], texts[index + 1], named.get(index, "")) for index in range(first + 1))


def _unnamed(text: str, after: str, name: str) -> str:
    """Return `text` without the name of the field at its end: that of a known one, or what comes before a `:` or `=`."""
    if not name and SEPARATOR.search(text.rstrip(" \t\"'")) and not OF.match(after):
        name = name_before(text)
        if names.evaluation(name) and " " in name:
            name = ""  # `EVAL it=5`, `Evaluation total time: 62 s`
    place = text.rfind(name) if name else -1
    return text[:place] + text[place + len(name) :] if place >= 0 else text
