"""Losses that are no finite numbers: which lines print one, and which was the first."""

import re
from functools import lru_cache

from ..classified_chunk import PROGRESS, ClassifiedChunk
from ..grammar.extractor import LONGEST

_FORMS = {
    "not_finite": re.compile(r"(?i)loss[^\d]{0,24}?(?<![a-z])(?:nan|inf(?:inity)?)(?![a-z])"),
    "finite": re.compile(r"(?i)loss[^\d]{0,24}?\d"),
}
_READ = 2000
"""Characters that are read of a line which is longer than its template."""


@lru_cache(maxsize=4096)
def is_not_finite(text: str) -> bool | None:
    """Return whether the loss in a line, or in its template, is no finite number; None where it holds none."""
    if "oss" not in text and "OSS" not in text:
        return None
    return True if _FORMS["not_finite"].search(text) else False if _FORMS["finite"].search(text) else None


def begins_at(view: ClassifiedChunk) -> int | None:
    """Return the place of the first report of a chunk since which no loss was a finite number; None where the newest is one."""
    first = None
    place = view.classes.rfind(PROGRESS)
    while place >= 0:
        template = view.templates[place]
        not_finite = is_not_finite(template if len(template) < LONGEST else view.lines[place][:_READ])
        if not_finite is False:
            break
        first = place if not_finite else first
        place = view.classes.rfind(PROGRESS, 0, place)
    return first
