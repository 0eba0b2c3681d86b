"""The fields of a line: which of its numbers means what.

A line is cut into the texts around its numbers. A field's name is what stands before its number (`loss: `, `'loss': `, `loss=`,
`Loss `, `| loss | `), its unit what stands after it (` samples/sec`, `s/it`, `ms`). Only the texts decide, so that a plan made for one
line holds for all lines of its template.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from . import names, units
from .names import Meaning
from .numbers import is_duration

_LONGEST_NAME = 100
"""Characters before a number that its name is looked for in."""

_OPENING = " \t\"'([{<*"
_SEPARATOR = re.compile(r"(?:[:=|]|(?<=['\"]),|->|=>|\bis|\bof|^\s*-)\s*$")
_NAME = re.compile(r"[A-Za-z_\u00aa-\uffff][^,;|\t{}\[\]\"'=:<>]*$")
_LETTER = re.compile(r"[^\W\d_]")
_SCOPE = re.compile(r"(?i)\((?:train|training|global|avg|mean|smoothed)\)$")
_TAIL = re.compile(r"(?:^|\s)(?:at|for|of|in|after|on|from|the)\s+(?=[A-Za-z_])")
_AT = re.compile(r"^(.*?)\s+(?:at|for|after|of|in)\s+\S.*$")
_GLUE = re.compile(r"^[\s\"')\]}]*(?:is|[:=,-]|->|was)?\s*[\"'(\[]?\s*$")
_UNIT_AFTER = re.compile(
    r"^[\s\"'\[(]{0,3}([A-Za-zµ_]+(?:[ ]*/[ ]*[A-Za-z_]+(?:/[A-Za-z]+)?"
    r"|\s+per\s+[A-Za-z]+(?:\s+per\s+[A-Za-z]+)?|_per_[A-Za-z_]+)?)(?!\s*[:=]|\w)"
)
_RATE_AFTER = re.compile(r"^\s{0,2}([A-Za-z]+/[A-Za-z]+)\s+:")
LEADING = "leading"
"""Name of a counter that stands bare at the start of a line: a round of boosting."""
FIRST = "first"
"""Name of a counter that stands bare at the start of a line, beside a named loss or speed."""

_LEADING = re.compile(r"\[\0\]\t\S.*:|\0:\t\S.*:")
_FIRST = re.compile(r"^[\s\[(#]*\0\s*[\]):|\t]")
_LOSS_AFTER = re.compile(r"^\s+(?:(?:(?:avg|mean|train|training)\s+)?loss\b(?!\s*[:=])|avg,\s*$)", re.IGNORECASE)
_ELAPSED_AFTER = re.compile(r"^\s*(?:s|secs?|seconds)\s+elapsed\b", re.IGNORECASE)
_UNTIL = re.compile(
    r"(?:^|[^a-z])(?:eta|remaining|left|estimated|expected|until|timeout|limit)(?:$|[^a-z])", re.IGNORECASE
)
_UNTIL_AFTER = re.compile(r"^\s*[a-z]*[ ]+(?:left|remaining|ago)\b(?!\s*[:=])", re.IGNORECASE)
_PER_SOME = re.compile(r"^\s*([a-zA-Z]+)\s*(?:/|per)\s*$")
_STEPS_AFTER = re.compile(r"^\s*(?:iters?|iterations?|steps?|batch(?:es)?|updates?)\b", re.IGNORECASE)
_RANGE = re.compile(r"^\s*(?:-|\.\.|to|and)\s*$")
_NAME_OF_NEXT = re.compile(r"^\s{2,}\S+\s$")
"""The name of the next number, set apart from this one: `sec/tick 57.7   sec/kimg 9.2`."""
_A_SECOND = re.compile(r"\s?/s(?:ec)?(?![A-Za-z/])")
_OF = re.compile(r"^\s*(?:/|of|out of)\s*$")
_SQUARE = re.compile(r"^\s*\]\s*\[\s*$")
_COMMA = re.compile(r"^\s*,\s*$")
_BOTH = re.compile(r"(?i)\bepochs?\s*/\s*(?:iter(?:ation)?s?|steps?|batch(?:es)?)$")
_EPOCHS_BAR = re.compile(r"(?i)(?:^|\W)(?:epochs?|total progress)\s*[:|]?\s*$")
_AFTER_SO_MANY = re.compile(r"(?i)^\W*(?:after|at)\s+$")
_EPOCH_AFTER = re.compile(r"epoch\b", re.IGNORECASE)
_COUNT_AFTER = re.compile(
    r"^\s+(images|imgs|samples|examples|sequences|sentences|tokens|words)(?:\s+(?:seen|processed|so far))?\s*(?:[,;|)\]]|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Slot:
    """Number `index` of a line and what it means: its value times `scale` is in seconds or in `unit`."""

    index: int
    meaning: Meaning
    name: str
    scale: float = 1.0
    unit: str = ""
    per: int = -1
    """Number of the line that this one is divided by: `12.5 sec per 100 iters`; -1 for none."""


_FILLED = re.compile(r"[\[|]\s?[#=>*█▓▒░▏▎▍▌▋▊▉\-. ]{5,}[\]|]")
_DRAWN = re.compile(r"[\u2500-\u259f]+|(?<=\[)[=>.]+(?=\])")
"""What bars are drawn of: box and block characters, and `[===>...]`."""

_TIME_UNIT = re.compile(r"^\s?(?:us|µs|ms|s|sec|m|min|h|d|days?,?)(?![A-Za-z/])")
_OPEN_BAR = re.compile(r"^(?:/\?|it|batch(?:es)?|steps?)\s+\[$")
_UNIT_FIRST = re.compile(r"^(?:us|ms|s|secs?|seconds|min|h|\w+/\w+)\s+(?=[A-Za-z])")
_SENTENCE = re.compile(r"^\S*[.;]\s+(?=[A-Za-z])")
_EPOCHS_PER = re.compile(r"\s?(?:epochs?/s|s/epochs?)\b")
_NUMBERS = re.compile("\0+")


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
    text = text[-_LONGEST_NAME:].rstrip(_OPENING).replace("'s ", "s ")
    text = _SEPARATOR.sub("", text).rstrip(" \t\"'*")
    if text.endswith("]"):
        text = text[:-1].rstrip()
    text = re.split(r"\s{2,}| - ", text)[-1]
    if text.endswith(")"):
        text = _SCOPE.sub("", text)
    found = _NAME.search(text)
    if not found or not _LETTER.search(found[0]):
        return ""
    name = found[0].strip(" .-\"'*#")
    if len(name.split()) == 1:
        return name
    tail = _TAIL.split(name)[-1]
    return name if units.time_after(tail) is not None else tail  # `step timing in s`


def _after(text: str) -> str:
    if _A_SECOND.match(text):
        return "/s"
    if _NAME_OF_NEXT.match(text):
        return ""
    found = _RATE_AFTER.match(text) or _UNIT_AFTER.match(text)
    return found[1].strip() if found else ""


def _rate_or_period(index: int, name: str, unit: str) -> Slot | None:
    if unit and (period := units.period(unit)) is not None:
        return Slot(index, Meaning.STEP_TIME, name, period)
    if unit and (period := units.sample_period(unit)) is not None:
        return Slot(index, Meaning.PERIOD, name, period, units.SAMPLES)
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
    if what is Meaning.STEP and unit in ("ms", "us", "µs"):
        return Slot(index, Meaning.STEP_TIME, name, units.time_after(unit) or 1.0)
    if what is Meaning.RATE and units.time_after(unit) is not None and unit != "m":
        return None  # `Speed: 0.2ms preprocess`
    if what in (Meaning.STEP_TIME, Meaning.TIME, Meaning.CLOCK) and (seconds := units.time_after(unit)) is not None:
        scale = seconds
    return Slot(index, what, name, scale, kind)


def _name(index: int, before: str, carried: str) -> str:
    """Return the name of the number after `before`; `carried` is what the one before it left: `loss at 5: 0.3`."""
    name = name_before(before)
    if index and name and before.startswith(name):
        bare = _UNIT_FIRST.sub(
            "", _SENTENCE.sub("", name)
        )  # the unit of the number before, as in `0.5s loss=1.2` and `61.20s : 14705.90`
        name = "" if bare == name else bare
    elif index and name and before.lstrip().startswith(name):
        name = _UNIT_FIRST.sub("", _SENTENCE.sub("", name))  # as in `data 0.2 s step time: 1.0`
    if not name and carried and _GLUE.match(before):
        name = carried
    if len(name) == 1 and not before.rstrip().endswith((":", "=")):
        name = ""  # the end of a unit, as in `568/s (560/s)`
    return name


def _per_some(index: int, name: str, texts: Sequence[str]) -> Slot | None:
    """Return the field of `12.5 sec per 100 iters`, number `index` being the seconds."""
    some = _PER_SOME.match(texts[index + 1])
    if some is None or index + 2 >= len(texts) or not _STEPS_AFTER.match(texts[index + 2]):
        return None
    seconds = units.time_after(some[1])
    return Slot(index, Meaning.STEP_TIME, name, seconds, per=index + 1) if seconds is not None else None


def _named_after(index: int, name: str, before: str, after: str, lossy: bool) -> Slot | None:
    """Return the field of a number whose name stands after it: `2.94 avg loss`, `12.5 seconds elapsed`.

    Where the line has named a loss (`lossy`), another one that stands so is the same again.
    """
    if not name and not lossy and _LOSS_AFTER.match(after):
        return Slot(index, Meaning.LOSS, "loss")
    if not name and (counted := _COUNT_AFTER.match(after)):
        kind = units.TOKENS if counted[1].lower() in ("tokens", "words") else units.SAMPLES
        return Slot(index, Meaning.COUNT, counted[1], 1.0, kind)
    if _ELAPSED_AFTER.match(after):
        return Slot(index, Meaning.CLOCK, "elapsed")
    if _AFTER_SO_MANY.search(before) and _STEPS_AFTER.match(after):
        return Slot(index, Meaning.STEP, "steps")
    if not name and _EPOCH_AFTER.match(after):
        return Slot(index, Meaning.EPOCH, "epoch")
    return None


def span(index: int, name: str, before: str, after: str, clock: bool = False) -> Slot | None:
    """Return a number that is a time by its unit, or by its form (`clock`: `h:mm:ss`), and not one that is still to come."""
    seconds = 1.0 if clock else units.time_after(_after(after))
    if seconds is None or _UNTIL.search(name or before[-_LONGEST_NAME:]) or _UNTIL_AFTER.match(after):
        return None
    if name and names.evaluation(name):
        return None
    return Slot(index, Meaning.SPAN, name, seconds)


def _clock_of_bar(texts: Sequence[str], index: int) -> bool:
    before = texts[index]
    if index and _OPEN_BAR.match(before):
        return texts[index + 1].startswith((",", "<"))
    return texts[index + 1].startswith("<") and (before.rstrip(" ").endswith("[") or (index >= 2 and before == " "))


def plan(texts: Sequence[str], numbers: Sequence[str]) -> Plan:  # noqa: C901  # a decision list
    """Return what `numbers` mean, which stand between `texts`. Of the numbers only the form counts, never a digit."""
    count = len(numbers)
    slots: list[Slot] = []
    counter, bar, carried = -1, False, ""
    if count >= 2 and _LEADING.match("\0".join(texts[:2])):
        slots.append(Slot(0, Meaning.STEP, LEADING))
    for index in range(len(slots), count):
        before, after = texts[index], texts[index + 1]
        if before.endswith("<") and slots:
            continue
        if after.startswith("%"):
            share = names.meaning(name_before(before))
            slots += [Slot(index, Meaning.MEASURE, name_before(before))] if share and share[0] is Meaning.MEASURE else []
            continue
        if index and _goes_on(slots, index, texts, numbers):
            continue
        name = _name(index, before, carried)
        unit = _after(after)
        carried = ""
        if (some := _PER_SOME.match(after)) and index + 1 < count and _STEPS_AFTER.match(texts[index + 2]):
            seconds = units.time_after(some[1])
            if seconds is not None:
                slots.append(Slot(index, Meaning.STEP_TIME, name, seconds, per=index + 1))
                continue
        if found := _AT.match(before[-_LONGEST_NAME:].strip(_OPENING).split("\t")[-1]):
            carried = name_before(found[1])
        lossy = any(slot.meaning is Meaning.LOSS for slot in slots)
        slot = _slot(index, name, unit) or _named_after(index, name, before, after, lossy)
        if slot and _fits(slot, numbers[index]):
            slots.append(slot)
        elif _clock_of_bar(texts, index):
            slots.append(Slot(index, Meaning.CLOCK, "elapsed"))
            bar = True
        elif (
            not bar
            and (_whole(numbers[index]) or "|" in before)
            and ((_OF.match(after) and unit in ("", "of")) or _OPEN_BAR.match(after))
        ):
            counter = index  # the last one before the elapsed time: bars may name the epoch first
        elif slot := span(index, name, before, after):
            slots.append(slot)
    counters = [slot for slot in slots if slot.meaning is Meaning.STEP]
    if any(_whole(numbers[slot.index]) for slot in counters):  # `"update": 1.25, "num_updates": 250`
        slots = [slot for slot in slots if slot not in counters or _whole(numbers[slot.index])]
    return _with_counter(slots, texts, counter, bar)


def _shape(texts: Sequence[str]) -> str:
    """Return what lines of one print statement have in common, however far a bar has grown and in which unit a time stands."""
    bare = ("".join(_TIME_UNIT.sub("", _DRAWN.sub("", text)).split()) for text in texts)
    return _NUMBERS.sub("\0", "\0".join(bare))


def _whole(number: str) -> bool:
    """Return whether `number` has the form of a counter's."""
    return "." not in number and not is_duration(number)


def _fits(slot: Slot, number: str) -> bool:
    """Return whether `number` has a form that its meaning allows: a counter may be printed as `3.0`, but not as `0.527`."""
    if slot.meaning is Meaning.STEP_TIME and _COUNTED.search(slot.name):
        return not number.isdigit()  # `time/batch: 365` counts
    return slot.meaning is not Meaning.STEP or len(number.partition(".")[2]) < _DECIMALS


_COUNTED = re.compile(r"(?i)\btime/\w+$|^time[_ ]step$")
_DECIMALS = 2
"""Decimals from which a number counts no steps."""


def _goes_on(slots: list[Slot], index: int, texts: Sequence[str], numbers: Sequence[str]) -> bool:  # noqa: PLR0911  # a list of cases
    """Return whether number `index` belongs to the one before it: `N` of `k/N`, the end of a range, `100` of `5 s per 100 iters`."""
    before, after = texts[index], texts[index + 1]
    last = slots[-1] if slots and slots[-1].index == index - 1 else None
    if last and last.per == index:
        return True
    if last and last.meaning in (Meaning.STEP, Meaning.EPOCH) and _whole(numbers[index]) and _counts_on(last, texts):
        slots[-1] = Slot(
            last.index, Meaning.EPOCH, last.name
        )  # `Epoch: [3][250]`, `"step": [3, 250]`, `epoch/iter: 3/250`
        slots.append(Slot(index, Meaning.STEP, last.name))
        return True
    if _OF.match(before):
        if last and last.meaning in (Meaning.STEP, Meaning.EPOCH):
            slots.append(Slot(index, Meaning.TOTAL, last.name))
        return True
    if last and last.meaning is Meaning.LOSS and not before.strip() and before and _integer(numbers[index - 1]):
        slots[-1] = Slot(last.index, Meaning.STEP, "step")  # `train loss 250 0.311`
        slots.append(Slot(index, Meaning.LOSS, last.name))
        return True
    if not _RANGE.match(before) or (before.strip() == "and" and "between" not in texts[index - 1]):
        return False
    if last and last.meaning is Meaning.STEP:
        slots[-1] = Slot(index, Meaning.STEP, last.name)  # batches 0-50: the last one counts
        return True
    if last is None and _STEPS_AFTER.match(after):
        slots.append(Slot(index, Meaning.STEP, "batch"))  # 51-100batch
        return True
    return False


def _integer(number: str) -> bool:
    return number.isdigit()


def _counts_on(last: Slot, texts: Sequence[str]) -> bool:
    """Return whether the counter `last` is an epoch, and the number after it the step in it."""
    before, between, after = texts[last.index : last.index + 3]
    if last.meaning is Meaning.EPOCH and _SQUARE.match(between):
        return True
    if _BOTH.search(last.name) and _OF.match(between):
        return True
    opened = before.rstrip().endswith(("[", "("))
    return opened and _COMMA.match(between) is not None and after.lstrip().startswith(("]", ")"))


def _with_counter(slots: list[Slot], texts: Sequence[str], counter: int, bar: bool) -> Plan:
    """Take an unnamed `k/N` for the step where no field is named so and the line is a bar or a report of an epoch."""
    bare = [slot for slot in slots if slot.meaning is Meaning.RATE and _A_SECOND.match(texts[slot.index + 1])]
    drawn = bar or any(mark in text for text in texts for mark in ("%|", "━", "[=", "=]", "[>", "█", "[."))
    drawn = drawn or (counter >= 0 and any(_FILLED.search(text) for text in texts))
    step = any(slot.meaning is Meaning.STEP for slot in slots)
    if not step and counter < 0 and len(texts) > 2 and _FIRST.match("\0".join(texts[:2])):
        known = any(
            slot.meaning in (Meaning.STEP_TIME, Meaning.RATE, Meaning.LOSS, Meaning.COUNT, Meaning.SPAN)
            for slot in slots
        )
        if known and not any(slot.index == 0 for slot in slots):
            slots.insert(0, Slot(0, Meaning.STEP, FIRST))
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
        slots.append(Slot(counter, Meaning.EPOCH if epochs else Meaning.STEP, ""))
        if _OF.match(texts[counter + 1]):
            slots.append(Slot(counter + 1, Meaning.TOTAL, ""))
    shape = zlib.crc32(_shape(texts).encode("utf-8", "replace"))
    return Plan(tuple(slots), bar=drawn and counter >= 0, shape=shape, scope=_scope(slots, texts))


_COUNTER_LAST = re.compile(r"(?i)(?<= )(?:ep|epoch|it|iter|iteration|step|batch)$")
_COUNTERS = (Meaning.STEP, Meaning.EPOCH, Meaning.TOTAL, Meaning.SPAN, Meaning.CLOCK)


def _scope(slots: Sequence[Slot], texts: Sequence[str]) -> str:
    """Return what stands before the first measured field, the names of fields left out."""
    if len(texts) < 2:
        return texts[0]
    first = min((slot.index for slot in slots if slot.meaning not in _COUNTERS), default=0)
    named = {slot.index: slot.name for slot in slots}
    return "".join(_unnamed(texts[index], texts[index + 1], named.get(index, "")) for index in range(first + 1))


def _unnamed(text: str, after: str, name: str) -> str:
    """Return `text` without the name of the field at its end: that of a known one, or what stands before a `:` or `=`."""
    if not name and _SEPARATOR.search(text.rstrip(" \t\"'")) and not _OF.match(after):
        name = name_before(text)
        if names.evaluation(name) and (counter := _COUNTER_LAST.search(name)):
            name = counter[0]  # `EVAL it=5`
    place = text.rfind(name) if name else -1
    return text[:place] + text[place + len(name) :] if place >= 0 else text
