"""Whether a line is a report of the training itself, by its fields."""

import re
from collections.abc import Collection
from dataclasses import replace

from ..grammar import mllog, names
from ..grammar.layout import LEADING
from ..grammar.names import FieldLayout, Meaning
from ..grammar.prescan import Prescan
from .words import WORDS

Likely = Collection[re.Pattern[str]]
"""The expressions that may match a line."""

_PATTERNS = {
    "epoch_end": re.compile(
        r"(?i)^(?:\w+ )?(?:train(?:ing)? )?epoch (?:time|took|duration)|\btimer? (?:train )?epoch:"
        r"|^\W*epoch \d+(?:/\d+)? (?:ended|finished|completed|done)\W*$"
        r"|^\s*\d+ (?:iter(?:ation)?s?|steps?|updates?), \d+ epochs?(?: / \d+ epochs?)?$"
    ),
    "other_bar": re.compile(
        r"(?i)^\W*(?!train|fine)[a-z]+ing\b|\b(?:map|mapping|filter\w*|download\w*|load\w*|sav\w+|fetch\w*|generat\w+|tokeniz\w*|process\w*"
        r"|extract\w*|sampl(?:e|ing)\b|pars\w+|read\w*|prepar\w+|eval\w*|valid\w*|test\w*|"
        r"predict\w*|infer\w*|resolving|convert\w*|quantiz\w*|captur\w*|cach\w+|index\w*|build\w*|encod\w*|batches"
        r"|shards|files|flattening|packing|sanity|scann?ing|weights|unpack\w*|computing|upload\w*|score)\b(?!/s)"
        r"|\bmAP(?:\d|\b)|[kKMG]?i?B/s|B/s"
    ),
    "other_work": re.compile(
        r"(?i)^\W*(?:pre-?process|tokeniz|download|extract|convert|index|read|load|pars|upload|copy|merg|generat|cach|build|compil)ing\b"
    ),
    "unnamed_bar": re.compile(r"^\s*\d+%"),
    "unknown_rate": re.compile(r"\?\s?\w+/s\b|\bs/\w+\?"),
    "training_bar": re.compile(r"(?i)^\W*train(?:ing)? batches\b"),
    "duration": re.compile(r"(?i)^(?:total )?(?:timer?|elapsed|seconds|took)\b[ \w]*$|^generation time$"),
    "inference": re.compile(
        r"(?i)\b(?:prompt eval|sample|eval) time =|\b(?:prompt|gen(?:eration)?|decode|prefill|request|(?:in|out)put) throughput\b"
    ),
    "section_name": re.compile(r"^(?:train|training|optim|throughput|perf|time|rollout|loss)/"),
    "frame_rate": re.compile(r"(?i)^(?:speed|(?:(?!train|env)\w++ )*+(?:(?!train|env)\w*_)?fps)$"),
    "step_first": re.compile(
        r"(?i)^\W*(?:rank \d+\] )?(?:at )?(?:(?:global|opt(?:im(?:izer)?)?)[ _-])?(?:step|iter(?:ation)?|update)\W{0,3}\d"
    ),
    "episode": re.compile(r"(?i)^\W*(?:train(?:ing)?\W+)?(?:episode|ep|game)\W{0,3}\d.*\b(?:reward|return|score)"),
    "qualifier": re.compile(
        r"(?i)\b(?:current|global|opt(?:im(?:izer)?)?|learning|train(?:ing)?|time|date|running|starting)\b"
    ),
}
"""What lines and names of fields look like. `epoch_end` and `step_first` are lines of the training, `other_bar` and `other_work` of other
work. A bar without a name and a rate is at its start. `duration` names a time that may be a line of its own, `section_name` a measure of
the training, `frame_rate` a rate that video tools print as well. A `qualifier` may precede the name of a counter."""
_PRESCAN = Prescan(
    (*(_PATTERNS[name] for name in ("epoch_end", "other_bar", "inference")), WORDS["bookkeeping"], WORDS["evaluation"])
)
_STEP_LOSS_RANK = 5
"""Highest rank of a loss that counts without a counter (`names.loss_rank`): the losses of a step."""


def is_report(body: str, layout: FieldLayout) -> bool | None:  # noqa: C901, PLR0911  # a decision list
    """Return whether `body`, a line without its prefix, with the fields `layout`, reports the training: step, epoch, loss or speed.

    Returns:
        False for results of evaluation, bookkeeping and bars of other work; None where the fields do not decide.
    """
    if (event := mllog.read(body)) is not None:
        return bool(event.values)
    likely = _PRESCAN.likely(body)
    if _has("epoch_end", body, likely):
        return True
    fields = tuple(each for each in layout.fields if each.meaning not in (Meaning.SPAN, Meaning.LEFT))
    layout = replace(layout, fields=fields)
    if not fields:
        return None
    if fields[0].name == LEADING:
        return True  # a round of boosting: `[12]<tab>train-rmse:0.31`
    if _is_evaluation(body, layout, likely) or _has("inference", body, likely):
        return False
    loss, counter = layout.has(Meaning.LOSS), layout.has(Meaning.STEP, Meaning.EPOCH)
    if _PATTERNS["other_work"].match(body) and not loss:
        return False
    if layout.bar:
        if _PATTERNS["unnamed_bar"].match(body) and _PATTERNS["unknown_rate"].search(body):
            return False  # the name comes with the first update
        name = _PATTERNS["training_bar"].sub("", body)
        return not (_has("other_bar", name, likely) and not loss)
    speed = layout.has(Meaning.STEP_TIME, Meaning.PERIOD) or any(
        each.meaning is Meaning.RATE and not _PATTERNS["frame_rate"].match(each.name) for each in fields
    )
    if WORDS["bookkeeping"] in likely and (found := WORDS["bookkeeping"].search(body)):
        number = WORDS["number"].search(body)
        after_number = number is not None and number.start() < found.start()
        counted = layout.has(Meaning.STEP) and (loss or speed)
        if not WORDS["word"].search(body, 0, found.start()) or not (counted or after_number):
            return False
        if not counted and not speed:
            return False if found[0].lower().startswith(("sav", "load", "writ", "restor", "resum")) else None
    if speed or ((loss or layout.has(Meaning.RATE)) and counter):
        return True
    return (_is_training_loss(layout) if loss else _is_report_without_loss(body, layout, counter)) or None


def _has(name: str, body: str, likely: Likely) -> bool:
    return _PATTERNS[name] in likely and _PATTERNS[name].search(body) is not None


def _is_evaluation(body: str, layout: FieldLayout, likely: Likely) -> bool:
    """Return whether the line is about an evaluation, by the text before its first field, or by any text if it has no loss or speed."""
    if WORDS["evaluation"] not in likely:
        return False
    scope = body.split("%", 1)[0] if layout.bar and "%" in body else layout.scope
    if WORDS["evaluation"].search(scope):
        return "train" not in scope.lower()
    measured = layout.has(Meaning.RATE, Meaning.STEP_TIME, Meaning.LOSS)
    return not measured and "train" not in body.lower() and WORDS["evaluation"].search(body) is not None


def _is_training_loss(layout: FieldLayout) -> bool:
    """Return whether a loss without a counter is the training's, by its name or by the text before it."""
    if len(layout.fields) == 1 and layout.fields[0].name.lower().startswith(("final_", "best", "min")):
        return False
    ranks = [names.loss_rank(each.name) for each in layout.fields if each.meaning is Meaning.LOSS]
    return (len(layout.fields) > 1 and "train" in layout.scope.lower()) or min(ranks) <= _STEP_LOSS_RANK


def _is_report_without_loss(body: str, layout: FieldLayout, counter: bool) -> bool:
    """Return whether a line without loss and speed is a report: a counter with a measure, a named measure, or a counter alone."""
    fields, timed = layout.fields, layout.has(Meaning.TIME, Meaning.CLOCK)
    if counter and (timed or layout.has(Meaning.MEASURE, Meaning.COUNT)):
        named = [each for each in fields if each.meaning in (Meaning.MEASURE, Meaning.COUNT)]
        rate_alone = all(each.name.lower().endswith(("lr", "learning_rate", "learning rate")) for each in named)
        return timed or not rate_alone or _PATTERNS["step_first"].match(body) is not None
    if any(_PATTERNS["section_name"].match(each.name) for each in fields) or _PATTERNS["episode"].match(body):
        return True
    if len(fields) == 1 and timed and _PATTERNS["duration"].match(fields[0].name):
        return body[:1].isspace() or not WORDS["word"].search(layout.scope)
    counters = sum(each.meaning in (Meaning.STEP, Meaning.EPOCH) and bool(each.name) for each in fields)
    spare = 2 if layout.has(Meaning.TOTAL) else 0  # words between a counter and its end
    count = len(WORDS["word"].findall(_PATTERNS["qualifier"].sub("", body)))
    return layout.has(Meaning.STEP) and "(" not in body and count <= counters + spare
