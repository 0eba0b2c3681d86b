"""Is a line a report of the training itself? Decided by its fields."""

import re
from collections.abc import Collection
from dataclasses import replace

from ..grammar import mllog, names
from ..grammar.layout import LEADING
from ..grammar.names import Field, FieldLayout, Meaning
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
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)(?: (?:step|iteration))?\b")
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
_COUNTED = re.compile(
    r"(?i)^\W*(?:rank \d+\] )?(?:at )?(?:(?:global|opt(?:im(?:izer)?)?)[ _-])?(?:step|iter(?:ation)?|update)\W{0,3}\d"
)
_KEYS = re.compile(
    r"(?i)^(?:\[\w++\]\s*+)?(?:step|iter(?:ation)?)\s*+[=:]\s*+\d++"
    r"(?:(?:\s*+[,;|]\s++|\s++)[\w/]++\s*+[=:]\s*+[-+\d.e]++){2,}+\s*+$"
)
"""A counter and measures, of whatever names."""
_NUMBER = re.compile(r"\d")
_WORDS = re.compile(r"[^\W\d_]+")
_OBJECTIVE = re.compile(r"(?i)\b(?:episode|episodic)[ _](?:reward|return)$|\bfitness$")
"""Names of the objective of reinforcement learning. It needs no counter."""
_OF_EPOCH = re.compile(
    r"(?i)^\W*epoch \d+(?:/\d+)? (?:ended|finished|completed|done)\W*$"
    r"|^\s*\d+ (?:iter(?:ation)?s?|steps?|updates?), \d+ epochs?(?: / \d+ epochs?)?$"
    r"|^\s*(?:total|this epoch|epoch(?: \d+)?) \[[#=>. -]+\]\s+\d+(?:\.\d+)?%$"
    r"|^\W*(?:train(?:ing)? )?epoch\W{0,2} \d+(?:/\d+)? ?[\[(] ?\d+(?:\.\d+)? ?%[\])]$"
)
"""A line of counters; an epoch's end, or its share that is done: a bar without a counter."""
_UNTIL = re.compile(r"(?i)^\W*(?:(?:estimated |expected )?time|estimated|eta|elapsed|remaining)\b")
"""Beginning of a line with the elapsed and the remaining time."""
_NAMELESS = re.compile(
    r"^\[\d+(?:, (?:-?\d[\d.e+-]*|nan|inf|None))+, '\d+:\d\d(?::\d\d)?'\]$"
    r"|^(?:\[Rank \d+\] )?time \(ms\)(?: \| [\w-]+: \d+\.\d+)+$"
)
"""An epoch's numbers as a list that ends in a duration; the parts of a step's time."""
_FORMS = (_EPOCH_TIME, _OF_EPOCH, _NAMELESS)
"""Lines that are reports whatever their fields."""
_METER = re.compile(r"^\W*+[\w/.-]{1,80}? ?[:=]? *+[-+\d.e]++ ++\([-+\d.e]++\)\s*+$")
"""A value and its running mean."""
_REMAINS = re.compile(r"(?i)\b(?:remaining|eta)\b")
"""What only work under way has."""
_PARTS = re.compile(r"(?i)\bloss(?:es)?\W{0,3}[a-z]\w*\W{1,3}\d")
"""Losses by name after the word itself: `loss: mask=4.2 box=0.7`."""
_EPISODE = re.compile(r"(?i)^\W*(?:train(?:ing)?\W+)?(?:episode|ep|game)\W{0,3}\d")
_EARNED = re.compile(r"(?i)\b(?:reward|return|score)s?\b")
_PACE_FIRST = re.compile(r"^\s*\d+(?:\.\d+)? (?:its?|iters?|steps?|batches)/s(?:ec)?\b")
_ASIDE = 2
"""Other words that a line may have next to a counter with its name and its total."""
_SECOND = 2
"""Index of the second counter at most: the first may be followed by its total."""
_PRESCAN = Prescan((*_FORMS, _INFERENCE, _BOOKKEEPING, _NOT_TRAINING_BAR, _EVALUATING, _PARTS))


def is_report(body: str, layout: FieldLayout) -> bool | None:  # noqa: C901, PLR0911  # a decision list
    """Return whether `body`, a prefixed line with the fields `layout`, reports the training: step, epoch, loss or speed.

    Returns:
        False for results of an evaluation, bookkeeping and bars of other work; None where the fields do not decide.
    """
    if (event := mllog.read(body)) is not None:
        return bool(event.values)
    likely = _PRESCAN.likely(body)
    if any(form in likely and form.search(body) for form in _FORMS) or _has_remaining_time(body, layout):
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
    counted = layout.has(Meaning.MEASURE) and _COUNTED.match(body) is not None
    paced = (speed and _PACE_FIRST.match(body)) or (layout.has(Meaning.STEP) and (loss or speed or counted))
    if _BOOKKEEPING in likely and _BOOKKEEPING.search(body) and not paced:
        first = _NUMBER.search(body)
        end = first.start() if first else len(body)
        return False if _BOOKKEEPING.search(body, 0, end) or _KEEPING.search(body) else None
    if speed or (loss and counter) or (layout.has(Meaning.RATE) and counter):
        return True
    if loss:
        return _is_loss(body, layout) or None
    return _without_loss(body, layout, counter, likely) or None


def _has_remaining_time(body: str, layout: FieldLayout) -> bool:
    return layout.has(Meaning.LEFT) and layout.has(Meaning.CLOCK) and not layout.bar and _UNTIL.match(body) is not None


def _is_training_bar(body: str, layout: FieldLayout, likely: Likely) -> bool | None:
    other = _NOT_TRAINING_BAR in likely and _NOT_TRAINING_BAR.search(_TRAINING_BAR.sub("", body))
    if other and not layout.has(Meaning.LOSS):
        return False
    if not _UNKNOWN_RATE.search(body):
        return True
    if _UNNAMED_BAR.match(body):  # nothing is known yet but its name
        return False
    return _NAMED_BAR.match(body) is not None or None


def _without_loss(body: str, layout: FieldLayout, counter: bool, likely: Likely) -> bool:
    if counter and _PARTS in likely and _PARTS.search(body):
        return True
    if counter and layout.has(Meaning.MEASURE, Meaning.COUNT, Meaning.TIME, Meaning.CLOCK):
        measures = (Meaning.MEASURE, Meaning.COUNT)
        step = _COUNTED.match(body) is not None or _counts_twice(layout)
        kinds = [
            field for field in layout.fields if field.meaning in measures and (step or not _is_rate_of_learning(field))
        ]
        return bool(kinds) or layout.has(Meaning.TIME, Meaning.CLOCK)
    named = any(_FRAGMENT.match(field.name) or _OBJECTIVE.search(field.name) for field in layout.fields)
    if named or (layout.has(Meaning.STEP) and _KEYS.match(body)):
        return True
    if _EPISODE.match(body) and any(_EARNED.search(field.name) for field in layout.fields):
        return True
    if len(layout.fields) == 1 and layout.has(Meaning.TIME, Meaning.CLOCK) and _ALONE.match(layout.fields[0].name):
        return body[:1].isspace() or not _WORDS.search(layout.scope)
    counters = [field for field in layout.fields if field.meaning in (Meaning.STEP, Meaning.EPOCH) and field.name]
    words = [word for word in _WORDS.findall(_ORDINAL.sub("", body)) if word.lower() not in _QUALIFIERS]
    if layout.has(Meaning.TOTAL):
        words = words[_ASIDE + sum(len(_WORDS.findall(field.name)) - 1 for field in counters) :]
    return layout.has(Meaning.STEP) and "(" not in body and len(words) <= len(counters)


def _counts_twice(layout: FieldLayout) -> bool:
    """Return whether the line begins with an epoch and a step: settings begin otherwise."""
    first = {field.meaning for field in layout.fields if field.index <= _SECOND}
    return layout.fields[0].index == 0 and {Meaning.STEP, Meaning.EPOCH} <= first


def _is_rate_of_learning(field: Field) -> bool:
    return field.name.lower().endswith(("lr", "learning_rate", "learning rate"))


def _is_loss(body: str, layout: FieldLayout) -> bool:
    """Return whether a loss without a counter is a report by its form, its name or the text before it."""
    if _METER.match(body) or _REMAINS.search(body) or (len(layout.fields) > 1 and "train" in layout.scope.lower()):
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
