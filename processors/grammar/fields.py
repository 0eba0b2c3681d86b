"""One field: its name comes before its number (`loss: `, `'loss': `, `| loss | `), its unit after it (` samples/sec`, `s/it`, `ms`)."""

import re
from collections.abc import Sequence
from functools import lru_cache

from . import names, units
from .names import Field, Meaning

LONGEST_NAME = 100
"""Characters before a number that may belong to its name."""
OPENING = " \t\"'([{<*"
SEPARATOR = re.compile(r"(?:[:=|]|(?<=['\"]),|->|=>|\bis|\bof|^\s*-)\s*$")
A_SECOND = re.compile(r"\s?/s(?:ec)?(?![A-Za-z/])")


WINDOW = re.compile(r"(?i)^\s*(?:s|secs?|seconds?|mins?|minutes?)\s*[:=]\s*$")
"""Text between the length of a window and what was measured over it: `fps (10 sec: 57.3)`."""
_STEPS = r"(?:its?|iters?|iterations?|steps?|batch(?:es)?|updates?)(?:\(s\))?(?![A-Za-z])"
_FORMS = {
    # Names. Dashes and bullets separate fields as commas do.
    "name": re.compile(
        r"(?![\u00b7\u2013\u2014\u2022])[A-Za-z_\u00aa-\uffff][^,;|\t{}\[\]\"'=:<>\u00b7\u2013\u2014\u2022]*$"
    ),
    "letter": re.compile(r"[^\W\d_]"),
    "gap": re.compile(r"\s{2,}| - "),
    "scope": re.compile(r"(?i)\((?:train|training|global|avg|mean|smoothed|\w{1,2}(?:,\s*\w{1,2})+)\)$"),
    # `'loss': np.float64(0.31)`
    "type": re.compile(
        r"(?i)(?<![\w.])(?:(?:np|numpy|jnp|jax|torch|tf)\.)?(?:b?float\d*|u?int\d*|tensor|(?:device)?array)\([\[(\s]*$"
    ),
    "tail": re.compile(r"(?:^|\s)(?:at|between|for|of|in|after|on|from|the)\s+(?=[A-Za-z_])"),
    "fraction": re.compile(r"\.\d\d"),
    "glue": re.compile(r"^[\s\"')\]}]*+(?:is|->|[:=,-]|was)?+\s*+[\"'(\[]?+\s*+$"),
    # Numbers of steps that divide a time: `12.5 sec per 100 iters`, `100 steps take 8.8 seconds`, `Time (100 iters): 5.3s`.
    "steps": re.compile(rf"(?i)^\s*(?:train(?:ing)?\s+)?{_STEPS}"),
    "per_steps": re.compile(r"(?i)^\s*([a-z]+)\s*(?:/|per|for)\s*$"),
    "steps_took": re.compile(rf"(?i)^\s*+{_STEPS}\s*+\)?+\s*+([:=]|takes?|took|in)\s*+$"),
    "time_of": re.compile(
        r"(?i)(?:time|took|elapsed|cost|duration)\s*(?:\(|for|of|over|per|in)\s*(?:the\s+)?(?:(?:last|past)\s+)?$"
    ),
    "of_one": re.compile(
        r"(?i)\b(?:step|iter\w*|batch|update)[ _-]?(?:time|duration)|(?:/|\bper\b|\ba\b)\s*(?:step|iter\w*|batch)"
        r"|\b(?:after|at)\s+$"
    ),
    # Darknet writes the average loss as `517.6 avg,`.
    "loss_after": re.compile(r"(?i)^\s+(?:(?:avg|mean|train|training)\s+)?loss\b(?!\s*[:=])|^\s+avg,\s*$"),
    "elapsed_after": re.compile(r"(?i)^\s*(?:s|secs?|seconds)\s+elapsed\b"),
    # `after 200 updates`, `finished 40 iterations`
    "ended": re.compile(r"(?i)(?:^\W*(?:after|at)|\b(?:finished|completed))\s+$"),
    "epoch_after": re.compile(r"(?i)epoch\b|\s+epochs?\]"),
    "counted": re.compile(
        r"(?i)^\s*+(?:(?:iter\w*+|steps?|batch(?:es)?|updates?|epochs?)\s*+)?+[)\]]?+\s*+(?:[:=]|is)\s*+$"
    ),
    "so_many": re.compile(r"(?i)^\s*(?:iter\w*|steps?|batch(?:es)?|updates?|epochs?)\s*(?:[:=]|is)\s*$"),
    # Units. A word that a sign or `is` follows is the name of the next number: `loss->0.31\timgs_per_sec->1691.7`.
    "unit": re.compile(
        r"^[\s\"'\[(]{0,3}(毫?秒|分钟?|小时|[A-Za-zµ_]+(?:[ ]*/[ ]*[A-Za-z_]+(?:/[A-Za-z]+)?"
        r"|\s+per\s+[A-Za-z]+(?:\s+per\s+[A-Za-z]+)?|_per_[A-Za-z_]+)?)(?!\s*(?:[:=]|->|is\s*$)|[\w/])"
    ),
    # `sec/tick 57.7   sec/kimg 9.2`
    "name_of_next": re.compile(r"^\s{2,}\S+\s$"),
    "unit_first": re.compile(r"^(?:us|ms|s|secs?|seconds|min|h|\w+/\w+)[)\]]*\s+[(\[]?(?=[A-Za-z])"),
    "unit_of_last": re.compile(r"^\s?(\S+)\s*[|,;]"),
    "sentence": re.compile(r"^\S*[.;]\s+(?=[A-Za-z])"),
    "between": re.compile(r"^\s++\S++(?:\s++[:=])?\s++$"),
    # Times that are not of a step.
    "expected": re.compile(
        r"(?i)(?:^|[^a-z])(?:eta|remain(?:s|ing)?|left|estimated|expected|until|timeout|limit)(?:$|[^a-z])"
    ),
    "left": re.compile(r"(?i)(?:^|[^a-z])(?:eta|remaining|left)[^a-z]*$"),
    "left_after": re.compile(r"(?i)^(?:\s*+[a-z]++[ ]++|\s++)(?:left|remaining|ago)\b(?!\s*+[:=])"),
}


@lru_cache(maxsize=4096)
def name_before(text: str) -> str:
    """Return the name of the field at the end of `text`, which comes before a number; empty where there is none."""
    text = text[-LONGEST_NAME:]
    if "(" in text:
        text = _FORMS["type"].sub("", text)
    text = text.rstrip(OPENING).replace("'s ", "s ")
    bare = SEPARATOR.sub("", text)
    separated, text = bare != text, _FORMS["scope"].sub("", bare.rstrip(" \t\"'*")).removesuffix("]").rstrip()
    found = _FORMS["name"].search(_FORMS["gap"].split(text)[-1])
    if not found or not _FORMS["letter"].search(found[0]):
        return ""
    name = found[0].strip(" .-\"'*#")
    if " " not in name:
        return name
    parts = _FORMS["tail"].split(name)
    head, tail = parts[0], parts[-1]
    if separated and head != name and not names.evaluation(name) and (names.meaning(head) or ("",))[0] is Meaning.LOSS:
        return head  # `loss on training batch is 0.5`
    return name if units.time_after(tail) is not None else tail  # `step timing in s`


def counts_before(name: str, number: str, after: str) -> bool:
    """Return whether the word after a counter or a loss is the name of the next number, no unit: `step 400 tok/s 1234`."""
    if not name or not _FORMS["between"].match(after):
        return False
    known = names.meaning(name)
    if known is None or known[0] is Meaning.LOSS:
        return known is not None and "/" in after
    return number.isdigit() and known[0] in (Meaning.STEP, Meaning.EPOCH)


def unit_after(text: str) -> str:
    """Return the unit at the start of `text`, which follows a number; empty where there is none."""
    if A_SECOND.match(text):
        return "/s"
    if _FORMS["name_of_next"].match(text):
        return ""
    found = _FORMS["unit"].match(text)
    return found[1].strip() if found else ""


def _rate_or_period(index: int, name: str, unit: str) -> Field | None:
    if (period := units.period(unit)) is not None:
        return Field(index, Meaning.STEP_TIME, name, period)
    if (period := units.sample_period(unit)) is not None:
        return Field(index, Meaning.PERIOD, name, period, units.SAMPLES)
    if unit == "/s":
        return Field(index, Meaning.RATE, name, 1.0, units.UNNAMED)
    if rate := units.rate(unit):
        device = "/gpu" if units.per_device(name) and not rate.unit.endswith("/gpu") else ""
        return Field(index, Meaning.RATE, name, rate.scale, rate.unit + device)
    return None


def field_of(index: int, name: str, unit: str, number: str) -> Field | None:
    """Return the field of number `index`, after `name` and before `unit`. Of `number` only the form counts."""
    if name and names.evaluation(name):
        return None
    if unit and (field := _rate_or_period(index, name, unit)):
        return field
    known = names.meaning(name) if name else None
    if known is None:
        return None
    what, scale, kind = known
    seconds = units.time_after(unit)
    timed = unit in ("ms", "us", "µs") or (unit in ("s", "sec") and "." in number) or number.endswith("s")
    if what is Meaning.STEP and timed:  # `Step: 1s696ms`, `Batch: 0.031s`
        return Field(index, Meaning.STEP_TIME, name, seconds or 1.0)
    if what is Meaning.STEP and name.lower() == "batch" and _FORMS["fraction"].search(number):
        what = Meaning.TIME  # `Data 0.003 Batch 0.370`
    if what is Meaning.LOSS and name.lower().endswith("cost") and seconds is not None:
        what = Meaning.TIME  # `cost: 12.3s`
    if what in (Meaning.RATE, Meaning.LOSS) and seconds is not None and unit not in ("m", "h"):
        return None  # `Speed: 0.2ms preprocess`, `Finished NewLoss in 12.5 seconds`
    if what in (Meaning.STEP_TIME, Meaning.TIME, Meaning.CLOCK) and seconds is not None:
        scale = seconds
    return Field(index, what, name, scale, kind)


def name_of(index: int, before: str, carried: str) -> str:
    """Return the name of number `index` after `before`. `carried` is the name that the last number left: `loss at 5: 0.3`."""
    name = name_before(before)
    if index and name and before.lstrip().startswith(name):
        bare = _FORMS["unit_first"].sub("", _FORMS["sentence"].sub("", name))
        # The text begins with the unit of the last number: `0.5s loss=1.2`, `data 0.2 s step time: 1.0`.
        name = "" if bare == name and before.startswith(name) else bare
    if carried and WINDOW.match(before):
        name = carried
    if carried and ((not name and _FORMS["glue"].match(before)) or _FORMS["so_many"].match(before)):
        name = carried
    if not index or not name:
        return name
    last = _FORMS["unit_of_last"].match(before)
    if last and last[1] == name and units.period(name):
        return ""  # `605.2 ms/step | 0.53 MFU`
    if before.rstrip().endswith("(") and units.time_after(name) is not None:
        return ""  # `0.61 sec (0.60 average)`
    if len(name) == 1 and not before.rstrip().endswith((":", "=")):
        return ""  # the end of a unit, as in `568/s (560/s)`
    return name


def count_after_loss(fields: Sequence[Field], index: int, name: str, number: str, after: str) -> Field | None:
    """Return the counter between the name of a loss and the loss: `Loss after 2000 iterations: 0.31`, `train loss (step 2000): 0.31`.

    It is none of steps where `fields` has one: `step 2000 loss 1: 0.31`.
    """
    if not (name and number.isdigit() and _FORMS["counted"].match(after)):
        return None
    if (names.meaning(name) or ("",))[0] is not Meaning.LOSS:
        return None
    if any(field.meaning is Meaning.STEP for field in fields):
        return Field(index, Meaning.MEASURE, name)
    return Field(index, Meaning.EPOCH if "epoch" in f"{name} {after}".lower() else Meaning.STEP, "steps")


def time_of_steps(index: int, name: str, texts: Sequence[str]) -> Field | None:
    """Return the step time that numbers `index` and `index + 1` state together: `12.5 sec per 100 iters`, `100 steps take 8.8 s`."""
    if index + 2 >= len(texts):
        return None
    before, between, after = texts[index : index + 3]
    per = _FORMS["per_steps"].match(between)
    if per and _FORMS["steps"].match(after) and (seconds := units.time_after(per[1])) is not None:
        return Field(index, Meaning.STEP_TIME, name, seconds, per=index + 1)
    took, seconds = _FORMS["steps_took"].match(between), units.time_after(after)
    if took is None or names.evaluation(before) or _FORMS["of_one"].search(before):
        return None
    if _FORMS["time_of"].search(before) is None if took[1] in ":=" else seconds is None:
        return None
    return Field(index + 1, Meaning.STEP_TIME, "time of steps", seconds or 1.0, per=index)


def named_after(fields: Sequence[Field], index: int, name: str, before: str, after: str) -> Field | None:
    """Return the field of a number before its name: `2.94 avg loss`, `3epoch`. Where `fields` has a loss, another is that loss again."""
    if _FORMS["elapsed_after"].match(after):
        return Field(index, Meaning.CLOCK, "elapsed")
    if _FORMS["ended"].search(before) and _FORMS["steps"].match(after):
        return Field(index, Meaning.STEP, "steps")
    if name:
        return None
    if _FORMS["loss_after"].match(after) and all(field.meaning is not Meaning.LOSS for field in fields):
        return Field(index, Meaning.LOSS, "loss")
    return Field(index, Meaning.EPOCH, "epoch") if _FORMS["epoch_after"].match(after) else None


def span(index: int, name: str, before: str, after: str, *, is_clock: bool = False) -> Field | None:
    """Return a number that is a time by its unit or, for `is_clock`, by its form `h:mm:ss`. An expected time is one that remains."""
    seconds = 1.0 if is_clock else units.time_after(unit_after(after))
    named = name or before[-LONGEST_NAME:]
    if seconds is None or (name and names.evaluation(name)):
        return None
    if _FORMS["left"].search(named):
        return Field(index, Meaning.LEFT, name, seconds)
    if _FORMS["expected"].search(named) or _FORMS["left_after"].match(after):
        return None
    return Field(index, Meaning.SPAN, name, seconds)
