"""Is a line a report of the training itself? Decided by its fields."""

import re
from collections.abc import Collection
from dataclasses import replace

from ..grammar import mllog, names
from ..grammar.layout import LEADING
from ..grammar.names import FieldLayout, Meaning
from ..grammar.prescan import Prescan
from .words import WORDS

_EVALUATING, _BOOKKEEPING, _KEEPING = WORDS["evaluation"], WORDS["bookkeeping"], WORDS["keeping"]

Likely = Collection[re.Pattern[str]]
"""The expressions that may match a line."""

_OTHER_WORK = re.compile(
    r"(?i)^\W*(?:pre-?process|tokeniz|download|extract|convert|encod|decod|index|read|load|pars|filter|upload|copy|merg|generat"
    r"|transcrib|translat|scann|cach|build|compil|evaluat|validat|test|predict|inferr?)ing\b"
)
_ALONE = re.compile(r"(?i)^(?:total )?(?:timer?|elapsed|seconds|took)\b[ \w]*$|^generation time$")
"""Name of a time that may be a line of its own."""
_INFERENCE = re.compile(
    r"(?i)\b(?:prompt eval|sample|eval) time =|\brequests? ?/ ?s|\brequest throughput\b"
    r"|\b(?:prompt|gen(?:eration)?|decode|prefill|accepted|drafted|(?:in|out)put(?: token)?|total token) throughput\b"
)
_NOT_TRAINING_BAR = re.compile(
    r"(?i)^\W*(?!train|fine)[a-z]+ing\b|\b(?:map|mapping|filter\w*|download\w*|load\w*|sav\w+|fetch\w*|generat\w+|tokeniz\w*|process\w*"
    r"|extract\w*|sampl(?:e|ing)\b|pars\w+|read\w*|prepar\w+|eval\w*|valid\w*|test\w*|"
    r"predict\w*|infer\w*|resolving|convert\w*|quantiz\w*|captur\w*|cach\w+|index\w*|build\w*|encod\w*|batches"
    r"|shards|files|flattening|packing|sanity|scann?ing|weights|unpack\w*|computing|upload\w*|score)\b(?!/s)"
    r"|\bmAP(?:\d|\b)|[kKMG]?i?B/s|B/s"
)
_TRAINING_BAR = re.compile(r"(?i)^\W*train(?:ing)? batches\b")
_UNNAMED_BAR = re.compile(r"\s*\d+%")
_NAMED_BAR = re.compile(r"(?i)^(?:train(?:ing)?|epochs?|iter(?:ation)?s?|steps?)\b[\s\d:/]*%")
_UNKNOWN_RATE = re.compile(r"\?\s?\w+/s\b|\bs/\w+\?")
_TABLE_CELL = re.compile(r"^\s*+\|\s++[\w/][\w/ ]*+\s*+\|\s*+[-+\d.e]++\s*+\|$")
_FRAGMENT = re.compile(r"^(?:train|training|optim|throughput|perf|time|rollout|loss)/")
_EPOCH_TIME = re.compile(r"(?i)^(?:\w+ )?(?:train(?:ing)? )?epoch (?:time|took|duration)|\btimer? (?:train )?epoch:")
_QUALIFIERS = (
    "current",
    "global",
    "opt",
    "optim",
    "optimizer",
    "learning",
    "training",
    "train",
    "time",
    "date",
    "running",
    "starting",
)
"""Words that may stand before the name of a counter that is a line of its own."""
_FRAMES = re.compile(r"(?i)^(?:speed|(?:(?!train|env)\w++ )*+(?:(?!train|env)\w*_)?fps)$")
"""Rates that video tools print as well: alone they are no report."""
_OF_A_STEP = 5
"""Rank of a loss up to which it counts without a counter."""
_NUMBER = re.compile(r"\d")
_WORDS = re.compile(r"[^\W\d_]+")
_OF_EPOCH = re.compile(
    r"(?i)^\W*epoch \d+(?:/\d+)? (?:ended|finished|completed|done)\W*$"
    r"|^\s*\d+ (?:iter(?:ation)?s?|steps?|updates?), \d+ epochs?(?: / \d+ epochs?)?$"
    r"|^\s*(?:total|this epoch|epoch(?: \d+)?) \[[#=>. -]+\]\s+\d+(?:\.\d+)?%$"
    r"|^\W*(?:train(?:ing)? )?epoch\W{0,2} \d+(?:/\d+)? ?[\[(] ?\d+(?:\.\d+)? ?%[\])]$"
)
"""A line of counters; an epoch's end, or its share that is done: a bar without a counter."""
_UNTIL = re.compile(r"(?i)^\W*(?:(?:estimated |expected )?time|estimated|eta|elapsed|remaining)\b")
"""Beginning of a line with the elapsed and the remaining time."""
_FORMS = (_EPOCH_TIME, _OF_EPOCH)
"""Lines that are reports whatever their fields."""
_RATE_OF_LEARNING = ("lr", "learning_rate", "learning rate")
_PACE_FIRST = re.compile(r"^\s*\d+(?:\.\d+)? (?:its?|iters?|steps?|batches)/s(?:ec)?\b")
_ASIDE = 2
"""Other words that a line may have next to a counter with its name and its total."""
_PRESCAN = Prescan((*_FORMS, _INFERENCE, _BOOKKEEPING, _NOT_TRAINING_BAR, _EVALUATING))


def is_report(body: str, layout: FieldLayout) -> bool | None:  # noqa: C901, PLR0911  # a decision list
    """Return whether `body`, a prefixed line with the fields `layout`, reports the training: step, epoch, loss or speed.

    Returns:
        False for results of an evaluation, bookkeeping and bars of other work; None where the fields do not decide.
    """
    if (event := mllog.read(body)) is not None:
        return bool(event.values)
    likely = _PRESCAN.likely(body)
    remains = layout.has(Meaning.LEFT) and layout.has(Meaning.CLOCK) and not layout.bar and _UNTIL.match(body)
    if remains or any(form in likely and form.search(body) for form in _FORMS):
        return True
    layout = replace(
        layout, fields=tuple(field for field in layout.fields if field.meaning not in (Meaning.SPAN, Meaning.LEFT))
    )
    if layout.fields and layout.fields[0].name == LEADING:
        return True  # a round of boosting: `[12]<tab>train-rmse:0.31`
    if not layout.fields:
        return None
    if _is_evaluation(body, layout, likely) or (_INFERENCE in likely and _INFERENCE.search(body)):
        return False
    if not layout.bar and (keeping := _KEEPING.search(body)) and not _WORDS.search(body, 0, keeping.start()):
        return False
    if _OTHER_WORK.match(body) and not layout.has(Meaning.LOSS):
        return False
    if layout.bar:
        return _is_training_bar(body, layout, likely)
    if _TABLE_CELL.match(body):
        return True
    speed = layout.has(Meaning.STEP_TIME, Meaning.PERIOD) or any(
        field.meaning is Meaning.RATE and not _FRAMES.match(field.name) for field in layout.fields
    )
    loss = layout.has(Meaning.LOSS)
    counter = layout.has(Meaning.STEP, Meaning.EPOCH)
    paced = (speed and _PACE_FIRST.match(body)) or (layout.has(Meaning.STEP) and (loss or speed))
    if _BOOKKEEPING in likely and _BOOKKEEPING.search(body) and not paced:
        first = _NUMBER.search(body)
        end = first.start() if first else len(body)
        return False if _BOOKKEEPING.search(body, 0, end) or _KEEPING.search(body) else None
    if speed or (loss and counter) or (layout.has(Meaning.RATE) and counter):
        return True
    if loss:
        return _is_loss(layout) or None
    return _without_loss(body, layout, counter) or None


def _is_training_bar(body: str, layout: FieldLayout, likely: Likely) -> bool | None:
    other = _NOT_TRAINING_BAR in likely and _NOT_TRAINING_BAR.search(_TRAINING_BAR.sub("", body))
    if other and not layout.has(Meaning.LOSS):
        return False
    if not _UNKNOWN_RATE.search(body):
        return True
    if _UNNAMED_BAR.match(body):  # nothing is known yet but its name
        return False
    return _NAMED_BAR.match(body) is not None or None


def _without_loss(body: str, layout: FieldLayout, counter: bool) -> bool:
    # Settings may hold a number of epochs next to a rate of learning. A report of such a rate begins with a counter.
    first = layout.fields[0]
    counted = first.index == 0 and first.meaning in (Meaning.STEP, Meaning.EPOCH)
    measures = (field for field in layout.fields if field.meaning in (Meaning.MEASURE, Meaning.COUNT))
    measured = any(counted or not field.name.lower().endswith(_RATE_OF_LEARNING) for field in measures)
    if counter and (measured or layout.has(Meaning.TIME, Meaning.CLOCK)):
        return True
    if any(_FRAGMENT.match(field.name) for field in layout.fields):
        return True
    if len(layout.fields) == 1 and layout.has(Meaning.TIME, Meaning.CLOCK) and _ALONE.match(layout.fields[0].name):
        return body[:1].isspace() or not _WORDS.search(layout.scope)
    counters = [field for field in layout.fields if field.meaning in (Meaning.STEP, Meaning.EPOCH) and field.name]
    words = [word for word in _WORDS.findall(body) if word.lower() not in _QUALIFIERS]
    if layout.has(Meaning.TOTAL):
        words = words[_ASIDE + sum(len(_WORDS.findall(field.name)) - 1 for field in counters) :]
    return layout.has(Meaning.STEP) and "(" not in body and len(words) <= len(counters)


def _is_loss(layout: FieldLayout) -> bool:
    """Return whether a loss without a counter is a report by its form, its name or the text before it."""
    if len(layout.fields) > 1 and "train" in layout.scope.lower():
        return True
    ranks = [names.loss_rank(field.name) for field in layout.fields if field.meaning is Meaning.LOSS]
    return min(ranks) <= _OF_A_STEP and not (
        len(layout.fields) == 1 and layout.fields[0].name.lower().startswith(("final_", "best", "min"))
    )


def _is_evaluation(body: str, layout: FieldLayout, likely: Likely) -> bool:
    """Return whether the line is about an evaluation, by the text before its first field."""
    if _EVALUATING not in likely:
        return False
    scope = body.split("%", 1)[0] if layout.bar and "%" in body else layout.scope
    if _EVALUATING.search(scope):
        return "train" not in scope.lower()
    found = _EVALUATING.search(body)
    if not found:
        return False
    if layout.has(Meaning.RATE, Meaning.STEP_TIME):
        return False
    losses = [field for field in layout.fields if field.meaning is Meaning.LOSS]
    return not losses and "train" not in body.lower()
