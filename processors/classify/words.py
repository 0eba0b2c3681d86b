"""Words that show what a line is about: an evaluation, the training, bookkeeping, or a part of a report over several lines."""

import re

from ..grammar.prefix import strip_prefix

WORDS = {
    "evaluation": re.compile(
        r"(?i)(?:^|[^A-Za-z_])(?:eval\w*|validation|validating|valid|val|test(?:ing|set)?|dev(?=[^A-Za-z/])"
        r"|cv(?= batch| loss| info|\s*\|)|held[ _-]?out|holdout|inference|predict\w*)(?:$|[^A-Za-z])|测试|验证"
        r"|検証|評価|검증|평가|валидац|тестир|validaci[oó]n|validação|validierung"
    ),
    "training": re.compile(r"(?i)train|learn"),
    "bookkeeping": re.compile(
        r"(?i)\b(?:sav(?:e|ed|ing)|load(?:ed|ing)?|checkpoint\w*|resum\w+|restor\w+|download\w*|writ(?:e|ing|ten)"
        r"|upload\w*|namespace\(|\w*config\(|\w*args\(|arguments|finished in|estimated|"
        r"benchmark\w*|warm-?up (?:steps|iters)|translat\w+|generated|total (?:training|train|run) time|will"
        r"|expected|total (?:number|params)|compil\w+)"
    ),
    "keeping": re.compile(
        r"(?i)\b(?:sav(?:ed|ing)|load(?:ed|ing)|restor(?:ed|ing)|writing|wrote|resum(?:ed|ing))\b(?![\"']?\s*[:=])"
    ),
    "word": re.compile(r"[^\W\d_]+"),
    "number": re.compile(r"\d+(?:[.,:]\d+)*"),
    "named_number": re.compile(r"(?:(?:[:=|>]|\.{2}|\t)\s?|\s{2})[-+]?\d"),
}
"""Bookkeeping is saves, settings and totals. A named number follows its name and a colon, a gap or the like."""

PART_WORDS, PART_CHARACTERS = 6, 100
"""Maximum size of a part: the longest names of measures."""


def is_part(template: str) -> bool:
    """Return whether the lines of `template` may be parts of a report that prints one number a line."""
    body = strip_prefix(template).body.strip()
    short = len(body) < PART_CHARACTERS and 0 < len(WORDS["word"].findall(body)) <= PART_WORDS
    return short and len(WORDS["number"].findall(body)) == 1 and WORDS["named_number"].search(body) is not None
