"""One field: its name stands before its number (`loss: `, `'loss': `, `| loss | `), its unit after it (` samples/sec`, `s/it`, `ms`)."""

import re
from collections.abc import Sequence
from functools import lru_cache

from . import names, units
from .names import Field, Meaning

LONGEST_NAME = 100
"""Characters before a number that its name is looked for in."""
OPENING = " \t\"'([{<*"
SEPARATOR = re.compile(r"(?:[:=|]|(?<=['\"]),|->|=>|\bis|\bof|^\s*-)\s*$")
_NAME = re.compile(
    r"(?![\u00b7\u2013\u2014\u2022])[A-Za-z_\u00aa-\uffff][^,;|\t{}\[\]\"'=:<>\u00b7\u2013\u2014\u2022]*$"
)
"""Dashes and bullets part fields as commas do."""
_LETTER = re.compile(r"[^\W\d_]")
_APART = re.compile(r"\s{2,}| - ")
_SCOPE = re.compile(r"(?i)\((?:train|training|global|avg|mean|smoothed|\w{1,2}(?:,\s*\w{1,2})+)\)$")
_WRAPPED = re.compile(
    r"(?i)(?<![\w.])(?:(?:np|numpy|jnp|jax|torch|tf)\.)?(?:b?float\d*|u?int\d*|tensor|(?:device)?array)\([\[(\s]*$"
)
"""A type that stands around a number: `'loss': np.float64(0.31)`."""
_TAIL = re.compile(r"(?:^|\s)(?:at|for|of|in|after|on|from|the)\s+(?=[A-Za-z_])")
_GLUE = re.compile(r"^[\s\"')\]}]*+(?:is|->|[:=,-]|was)?+\s*+[\"'(\[]?+\s*+$")
_UNIT_AFTER = re.compile(
    r"^[\s\"'\[(]{0,3}(毫?秒|分钟?|小时|[A-Za-zµ_]+(?:[ ]*/[ ]*[A-Za-z_]+(?:/[A-Za-z]+)?"
    r"|\s+per\s+[A-Za-z]+(?:\s+per\s+[A-Za-z]+)?|_per_[A-Za-z_]+)?)(?!\s*(?:[:=]|->|is\s*$)|[\w/])"
)
"""What a sign, or `is`, follows is no unit but the name of the next number: `loss->0.31\timgs_per_sec->1691.7`."""
_RATE_AFTER = re.compile(r"^\s{0,2}([A-Za-z]+/[A-Za-z]+)\s+:(?!\s*$)")
_NAME_OF_NEXT = re.compile(r"^\s{2,}\S+\s$")
"""The name of the next number, set apart from this one: `sec/tick 57.7   sec/kimg 9.2`."""
A_SECOND = re.compile(r"\s?/s(?:ec)?(?![A-Za-z/])")
_UNIT_FIRST = re.compile(r"^(?:us|ms|s|secs?|seconds|min|h|\w+/\w+)[)\]]*\s+[(\[]?(?=[A-Za-z])")
_UNIT_OF_LAST = re.compile(r"^\s?(\S+)\s*[|,;]")
_SENTENCE = re.compile(r"^\S*[.;]\s+(?=[A-Za-z])")
_LOSS_AFTER = re.compile(r"^\s+(?:(?:(?:avg|mean|train|training)\s+)?loss\b(?!\s*[:=])|avg,\s*$)", re.IGNORECASE)
_COUNT_AFTER = re.compile(
    r"^\s+(images|imgs|samples|examples|sequences|sentences|tokens|words)(?:\s+(?:seen|processed|so far))?\s*(?:[,;|)\]]|$)",
    re.IGNORECASE,
)
_ELAPSED_AFTER = re.compile(r"^\s*(?:s|secs?|seconds)\s+elapsed\b", re.IGNORECASE)
_FINISHED = re.compile(r"(?i)\b(?:finished|completed)\s+$")
_TRIAL = re.compile(r"(?i)\btrial\s+#?$")
_COUNTED_FIRST = re.compile(r"^\s+(?:iter(?:ation)?s?|steps?|updates?),\s+$")
_EPOCH_SECOND = re.compile(r"^\s+epochs?\b")
"""`1200 iter, 3 epoch / 20 epochs`."""
_ENDED_AFTER = re.compile(r"(?i)^\s+(?:finished|completed?|ended|done)\b")
_BETWEEN = re.compile(r"^\s++\S++(?:\s++[:=])?\s++$")
_SO_MANY = re.compile(r"(?i)^\s*(?:iter\w*|steps?|batch(?:es)?|updates?|epochs?)\s*(?:[:=]|is)\s*$")
_FRACTION = re.compile(r"\.\d\d")
_ORDINAL_AFTER = re.compile(r"^\s*个?(轮次?|步|次迭代)(?![\w/])")
"""What stands after a counter in Chinese, as `th epoch` might in English."""
_EPOCH_AFTER = re.compile(r"epoch\b|\s+epochs?\]", re.IGNORECASE)
_OF_A_SPAN = re.compile(r"(?i)^\s*(?:s|secs?|seconds?|mins?|minutes?)\s*[:=]\s*$")
"""What stands between a span and what was measured over it: `fps (10 sec: 57.3)`."""
_AFTER_SO_MANY = re.compile(r"(?i)^\W*(?:after|at)\s+$")
STEPS_AFTER = re.compile(
    r"^\s*(?:train(?:ing)?\s+)?(?:its?|iters?|iterations?|steps?|batch(?:es)?|updates?)(?:\(s\))?(?![A-Za-z])",
    re.IGNORECASE,
)
_TIME_OF_SOME = re.compile(
    r"(?i)(?:time|took|elapsed|cost|duration)\s*(?:\(|for|of|over|per|in)\s*(?:the\s+)?(?:last\s+|past\s+)?$"
)
_OF_ONE = re.compile(
    r"(?i)\b(?:step|iter\w*|batch|update)[ _-]?(?:time|duration)|(?:/|\bper\b|\ba\b)\s*(?:step|iter\w*|batch)"
)
_LAST = re.compile(r"(?i)\b(?:last|past)\s+$")
_SOME_TOOK = re.compile(r"(?i)^\s*+(iter\w*|steps?|batch(?:es)?|updates?)?\s*+\)?+\s*+([:=]|takes?|took|in)\s*+$")
_PER_SOME = re.compile(r"^\s*([a-zA-Z]+)\s*(?:/|per|for)\s*$")
_UNTIL = re.compile(
    r"(?:^|[^a-z])(?:eta|remain(?:s|ing)?|left|estimated|expected|until|timeout|limit)(?:$|[^a-z])", re.IGNORECASE
)
_LEFT = re.compile(r"(?i)(?:^|[^a-z])(?:eta|remaining|left)[^a-z]*$")
_UNTIL_AFTER = re.compile(r"^(?:\s*+[a-z]++[ ]++|\s++(?<=[ ]))(?:left|remaining|ago)\b(?!\s*+[:=])", re.IGNORECASE)

PATTERNS = tuple(
    pattern.pattern
    for pattern in (
        A_SECOND,
        STEPS_AFTER,
        _LOSS_AFTER,
        _COUNT_AFTER,
        _ELAPSED_AFTER,
        _FINISHED,
        _TRIAL,
        _COUNTED_FIRST,
        _EPOCH_SECOND,
        _ORDINAL_AFTER,
        _EPOCH_AFTER,
        _TIME_OF_SOME,
        _LAST,
    )
)
"""Where a number's name or unit means nothing (`names.PATTERNS`, `units.PATTERNS`), one of these finds what gives it a meaning."""


@lru_cache(maxsize=4096)
def name_before(text: str) -> str:
    """Return the field's name at the end of `text`, which stands before a number; empty where there is none."""
    text = text[-LONGEST_NAME:]
    if "(" in text:
        text = _WRAPPED.sub("", text)
    text = text.rstrip(OPENING).replace("'s ", "s ")
    bare = SEPARATOR.sub("", text)
    said, text = bare != text, _SCOPE.sub("", bare.rstrip(" \t\"'*"))
    if text.endswith("]"):
        text = text[:-1].rstrip()
    text = _APART.split(text)[-1]
    found = _NAME.search(text)
    if not found or not _LETTER.search(found[0]):
        return ""
    name = found[0].strip(" .-\"'*#")
    if len(name.split()) == 1:
        return name
    parts = _TAIL.split(name)
    head, tail = parts[0], parts[-1]
    if said and head != name and not names.evaluation(name) and (names.meaning(head) or ("",))[0] is Meaning.LOSS:
        return head  # `loss on training batch is 0.5`
    return name if units.time_after(tail) is not None else tail  # `step timing in s`


def counts_before(name: str, number: str, after: str) -> bool:
    """Return whether a counter or a loss stands before the name of the next number, not before its own unit: `step 400 tok/s 1234`."""
    if not name or not _BETWEEN.match(after):
        return False
    known = names.meaning(name)
    if known is None or known[0] is Meaning.LOSS:
        return known is not None and "/" in after
    return number.isdigit() and known[0] in (Meaning.STEP, Meaning.EPOCH)


def spans(name: str, after: str) -> bool:
    """Return whether a number is the span over which the rate `name` was measured, which follows: `fps (10 sec: 57.3)`."""
    known = names.meaning(name) if name and _OF_A_SPAN.match(after) else None
    return known is not None and known[0] is Meaning.RATE


def unit_after(text: str) -> str:
    """Return the unit that `text`, standing after a number, begins with; empty where there is none."""
    if A_SECOND.match(text):
        return "/s"
    if _NAME_OF_NEXT.match(text):
        return ""
    found = _RATE_AFTER.match(text) or _UNIT_AFTER.match(text)
    return found[1].strip() if found else ""


def _rate_or_period(index: int, name: str, unit: str) -> Field | None:
    if unit and (period := units.period(unit)) is not None:
        return Field(index, Meaning.STEP_TIME, name, period)
    if unit and (period := units.sample_period(unit)) is not None:
        return Field(index, Meaning.PERIOD, name, period, units.SAMPLES)
    if unit == "/s":
        return Field(index, Meaning.RATE, name, 1.0, units.UNNAMED)
    if unit and (rate := units.rate(unit)):
        device = "/gpu" if units.per_device(name) and not rate.unit.endswith("/gpu") else ""
        return Field(index, Meaning.RATE, name, rate.scale, rate.unit + device)
    return None


def field_of(index: int, name: str, unit: str, number: str) -> Field | None:
    """Return what number `index`, after `name` and before `unit`, means. Of `number` the form counts."""
    if name and names.evaluation(name):
        return None
    if field := _rate_or_period(index, name, unit):
        return field
    known = names.meaning(name) if name else None
    if known is None:
        return None
    what, scale, kind = known
    timed = unit in ("ms", "us", "µs") or (unit in ("s", "sec") and "." in number) or number.endswith("s")
    if what is Meaning.STEP and timed:  # `Step: 1s696ms`, `Batch: 0.031s`
        return Field(index, Meaning.STEP_TIME, name, units.time_after(unit) or 1.0)
    if what is Meaning.LOSS and name.lower().endswith("cost") and units.time_after(unit) is not None:
        what = Meaning.TIME  # `cost: 12.3s`
    if what is Meaning.STEP and name.lower() == "batch" and _FRACTION.search(number):
        what = Meaning.TIME  # `Data 0.003 Batch 0.370`
    if what in (Meaning.RATE, Meaning.LOSS) and units.time_after(unit) is not None and unit not in ("m", "h"):
        return None  # `Speed: 0.2ms preprocess`, `Finished NewLoss in 12.5 seconds`
    if what in (Meaning.STEP_TIME, Meaning.TIME, Meaning.CLOCK) and (seconds := units.time_after(unit)) is not None:
        scale = seconds
    return Field(index, what, name, scale, kind)


def name_of(index: int, before: str, carried: str) -> str:
    """Return the name of the number after `before`; `carried` is what the one before it left: `loss at 5: 0.3`."""
    if index and not before.isascii():
        before = _ORDINAL_AFTER.sub("", before)
    name = name_before(before)
    if index and name and before.startswith(name):
        bare = _UNIT_FIRST.sub(
            "", _SENTENCE.sub("", name)
        )  # of the number before: `0.5s loss=1.2`, `61.20s : 14705.90`
        name = "" if bare == name else bare
    elif index and name and before.lstrip().startswith(name):
        name = _UNIT_FIRST.sub("", _SENTENCE.sub("", name))  # as in `data 0.2 s step time: 1.0`
    if index and _OF_A_SPAN.match(before):
        name = carried
    if carried and ((not name and _GLUE.match(before)) or _SO_MANY.match(before)):
        name = carried
    if index and name and (unit := _UNIT_OF_LAST.match(before)) and unit[1] == name and units.period(name):
        name = ""  # the unit of the one before it: `605.2 ms/step | 0.53 MFU`
    if index and before.rstrip().endswith("(") and units.time_after(name) is not None:
        name = ""  # the unit of the one before it: `0.61 sec (0.60 average)`
    if len(name) == 1 and not before.rstrip().endswith((":", "=")):
        name = ""  # the end of a unit, as in `568/s (560/s)`
    return name


def per_some(index: int, name: str, texts: Sequence[str]) -> Field | None:
    """Return the field of `12.5 sec per 100 iters`, number `index` being the seconds."""
    some = _PER_SOME.match(texts[index + 1])
    if some is None or index + 2 >= len(texts) or not STEPS_AFTER.match(texts[index + 2]):
        return None
    seconds = units.time_after(some[1])
    return Field(index, Meaning.STEP_TIME, name, seconds, per=index + 1) if seconds is not None else None


def loss_after(index: int, name: str, number: str, after: str) -> Field | None:
    """Return the counter of `Loss after 2000 iterations: 0.31`, number `index` being the 2000."""
    known = names.meaning(name) if name and number.isdigit() and _SO_MANY.match(after) else None
    if known is None or known[0] is not Meaning.LOSS:
        return None
    return Field(index, Meaning.EPOCH if "epoch" in after.lower() else Meaning.STEP, "steps")


def some_took(index: int, texts: Sequence[str]) -> Field | None:
    """Return the field of `Time (100 iters): 5.3s` and `100 steps take 8.8 seconds`, number `index` being the 100."""
    if index + 2 >= len(texts) or names.evaluation(texts[index]) or _AFTER_SO_MANY.search(texts[index]):
        return None
    said, seconds = _SOME_TOOK.match(texts[index + 1]), units.time_after(texts[index + 2])
    if said is None or (seconds is None and said[2] not in ":="):
        return None
    if said[1] is None and not _LAST.search(texts[index]):
        return None
    if said[2] in ":=" and not _TIME_OF_SOME.search(texts[index]):
        return None
    if _OF_ONE.search(texts[index]):  # `Avg step time over last 100 steps: 0.25s`
        return Field(index + 1, Meaning.STEP_TIME, "step time", seconds or 1.0)
    return Field(index + 1, Meaning.STEP_TIME, "time of steps", seconds or 1.0, per=index)


def named_after(index: int, name: str, before: str, after: str, lossy: bool) -> Field | None:  # noqa: PLR0911  # a list of cases
    """Return the field of a number whose name stands after it: `2.94 avg loss`, `12.5 seconds elapsed`.

    Where the line has named a loss (`lossy`), another one that stands so is the same again.
    """
    if not name and not lossy and _LOSS_AFTER.match(after):
        return Field(index, Meaning.LOSS, "loss")
    if not name and (counted := _COUNT_AFTER.match(after)):
        kind = units.TOKENS if counted[1].lower() in ("tokens", "words") else units.SAMPLES
        return Field(index, Meaning.COUNT, counted[1], 1.0, kind)
    if _ELAPSED_AFTER.match(after):
        return Field(index, Meaning.CLOCK, "elapsed")
    if (_AFTER_SO_MANY.search(before) or _FINISHED.search(before)) and STEPS_AFTER.match(after):
        return Field(index, Meaning.STEP, "steps")
    if not index and not before.strip() and _COUNTED_FIRST.match(after):
        return Field(index, Meaning.STEP, "iteration")
    if index == 1 and _COUNTED_FIRST.match(before) and _EPOCH_SECOND.match(after):
        return Field(index, Meaning.EPOCH, "epoch")
    if _TRIAL.search(before) and _ENDED_AFTER.match(after):
        return Field(index, Meaning.STEP, "trial")
    if ordinal := _ORDINAL_AFTER.match(after):
        return Field(index, Meaning.EPOCH if ordinal[1].startswith("轮") else Meaning.STEP, ordinal[1])
    if not name and _EPOCH_AFTER.match(after):
        return Field(index, Meaning.EPOCH, "epoch")
    return None


def span(index: int, name: str, before: str, after: str, clock: bool = False) -> Field | None:
    """Return a number that is a time by its unit, or by its form (`clock`: `h:mm:ss`); one that is still to come only as what remains."""
    seconds = 1.0 if clock else units.time_after(unit_after(after))
    if seconds is not None and _LEFT.search(name or before[-LONGEST_NAME:]):
        return Field(index, Meaning.LEFT, name, seconds)
    if seconds is None or _UNTIL.search(name or before[-LONGEST_NAME:]) or _UNTIL_AFTER.match(after):
        return None
    if name and names.evaluation(name):
        return None
    return Field(index, Meaning.SPAN, name, seconds)
