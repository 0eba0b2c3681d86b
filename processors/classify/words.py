"""Words that tell what lines are about: the one place that knows them. By them, too, headings say that a report is of an evaluation.

A report may stand over several lines: which are parts of it, their templates tell.
"""

import re

from ..grammar.prefix import strip_prefix

EVALUATING = re.compile(
    r"(?i)(?:^|[^A-Za-z_])(?:eval\w*|validation|validating|valid|val|test(?:ing|set)?|dev(?=[^A-Za-z/])"
    r"|cv(?= batch| loss| info|\s*\|)|held[ _-]?out|holdout|inference|predict\w*)(?:$|[^A-Za-z])|测试|验证"
    r"|検証|評価|검증|평가|валидац|тестир|validaci[oó]n|validação|validierung"
)
"""An evaluation."""

TRAINING = re.compile(r"(?i)train|learn")
"""The training itself."""

BOOKKEEPING = re.compile(
    r"(?i)\b(?:sav(?:e|ed|ing)|load(?:ed|ing)?|checkpoint\w*|resum\w+|restor\w+|download\w*|writ(?:e|ing|ten)"
    r"|upload\w*|namespace\(|\w*config\(|\w*args\(|arguments|finished in|estimated|"
    r"benchmark\w*|warm-?up (?:steps|iters)|translat\w+|generated|total (?:training|train|run) time|will"
    r"|expected|total (?:number|params)|compil\w+)"
)
"""The keeping of books: saves, settings, totals."""

KEEPING = re.compile(
    r"(?i)\b(?:sav(?:ed|ing)|load(?:ed|ing)|restor(?:ed|ing)|writing|wrote|resum(?:ed|ing))\b(?![\"']?\s*[:=])"
)
"""Verbs of it; no names of fields."""

EVALUATION, PART, NEUTRAL, APART = "EPN."
"""Marks of templates: the heading of an evaluation, a part of a report, what goes on between (rules, blank lines), anything else."""

SECTION = re.compile("E[PN]*")
"""The heading of an evaluation and what stands below it."""

_WORDS, _LONGEST = 6, 100
"""Words of a part, and characters of a part and of a heading, at most."""
_HEADING_WORDS = 4
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAMED = re.compile(r"(?:(?:[:=|>]|\.{2}|\t)\s?|\s{2})[-+]?\d")


def mark_of(template: str) -> str:
    """Return what the lines of `template` may be in a report over several lines."""
    body = strip_prefix(template).body.strip()
    words = _WORD.findall(body[:_LONGEST])
    if not words:
        return NEUTRAL
    if len(body) >= _LONGEST:
        return APART
    numbers = _NUMBER.findall(body)
    if not numbers and len(words) <= _HEADING_WORDS and EVALUATING.search(body) and "train" not in body.lower():
        return EVALUATION
    return PART if len(numbers) == 1 and len(words) <= _WORDS and _NAMED.search(body) else APART
