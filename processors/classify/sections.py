"""Reports over several lines: which lines are parts of one, and which headings say that one is of an evaluation."""

import re

from processors.grammar.prefix import strip_prefix

from .words import EVALUATING

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
