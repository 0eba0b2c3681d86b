"""Losses that are no finite numbers: which lines tell of one, and with which they began."""

import re
from functools import lru_cache

from ..classified_chunk import PROGRESS, ClassifiedChunk
from ..grammar.extractor import LONGEST

_NOT_FINITE = re.compile(r"(?i)loss[^\d]{0,24}?(?<![a-z])(?:nan|inf(?:inity)?)(?![a-z])")
_FINITE = re.compile(r"(?i)loss[^\d]{0,24}?\d")
_READ = 2000
"""Characters that are read of a line which is longer than its template."""


@lru_cache(maxsize=4096)
def is_not_finite(text: str) -> bool | None:
    """Return whether the loss in a line, or in its template, is no finite number; None where it tells none."""
    if "oss" not in text and "OSS" not in text:
        return None
    return True if _NOT_FINITE.search(text) else False if _FINITE.search(text) else None


def begins_at(view: ClassifiedChunk) -> int | None:
    """Return the place of the first report of a chunk since which no loss was a finite number; None where the newest is one."""
    first = None
    place = view.classes.rfind(PROGRESS)
    while place >= 0:
        template = view.templates[place]
        told = is_not_finite(template if len(template) < LONGEST else view.lines[place][:_READ])
        if told is False:
            break
        first = place if told else first
        place = view.classes.rfind(PROGRESS, 0, place)
    return first
