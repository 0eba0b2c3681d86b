"""Words that tell what lines are about: the one place that knows them."""

import re

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
