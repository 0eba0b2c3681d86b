"""Which unnamed progress bars are of other work than training.

Those under a line that announces it, as `Decoding the test set...`, and those that are drawn while a longer bar is under way: evaluations.
"""

import re
from functools import lru_cache

import msgspec

from ..classified_chunk import ClassifiedChunk
from ..grammar.prefix import strip_prefix

_FORMS = {
    "loop": re.compile(r"\s*\d+(?:\.\d+)?%.*?\b(\d+)(?:/|\s+of\s+)(\d+)"),
    "begins": re.compile(r"(?i)\b(?:start\w*|begin\w*|now|running|comput\w+)\b"),
    "other_work": re.compile(
        r"(?i)\b(?:pre-?process|extract|decod|encod|predict|eval|validat|test|infer|generat|convert|render|transcrib|translat"
        r"|synthesi[sz]|detect)\w*+"
    ),
    "ahead": re.compile(r"(?:\.\.\.|…|:|[-=*#]{2})$"),
    "trains": re.compile(r"(?i)train|epoch|tun(?:e|ing)\b|learn"),
}


class SectionState(msgspec.Struct, array_like=True):
    """The last line of a stream.

    Attributes:
        announced: It announces other work than training.
        end: `N` of the bar that it draws; 0 where it draws none.
        foreign: That bar is of other work.
        outer: `N` of the newest bar of training that is under way; 0 without one.
    """

    announced: bool = False
    end: int = 0
    foreign: bool = False
    outer: int = 0


class SectionScope:
    """Finds the unnamed bars of a chunk that are of other work than training.

    Args:
        view: The chunk.
        before: The last line before it.
    """

    def __init__(self, view: ClassifiedChunk, before: SectionState) -> None:
        self._lines = view.lines
        self._templates = view.templates
        self._before = before
        self._known: tuple[int, int, bool] = (0, 0, False)

    def foreign(self, place: int) -> bool:
        """Return whether line `place` is a bar of other work."""
        end = self._bar(place)[1]
        if not end:
            return False
        begin, until, known = self._known
        if begin <= place < until:
            return known
        first = place
        while first and (self._bar(first - 1)[1] == end or self._is_transparent(first - 1)):
            first -= 1
        if not first and self._before.end == end:
            found = self._before.foreign
        else:
            announced = _announces(self._templates[first - 1]) if first else self._before.announced
            found = announced or end < self._outer(first)
        self._known = (first, place, found)
        return found

    def last(self) -> SectionState:
        """Return the last line of the chunk, blank ones left out."""
        lines = range(len(self._lines) - 1, -1, -1)
        place = next((index for index in lines if not self._is_transparent(index)), -1)
        if place < 0:
            return self._before
        end = self._bar(place)[1]
        announced = not end and _announces(self._templates[place])
        return SectionState(announced, end, self.foreign(place), self._outer(len(self._lines)))

    def _outer(self, place: int) -> int:
        """Return the `N` of the newest bar above line `place` that is not foreign, if it has not ended; else 0."""
        for above in range(place - 1, max(-1, place - 8), -1):  # reports of a step are printed between two bars
            done, end = self._bar(above)
            if end and not self.foreign(above):
                return end if done < end else 0
        return self._before.outer if place < 8 else 0

    def _bar(self, place: int) -> tuple[int, int]:
        """Return `k` and `N` of a bar without a name and a loss; zeros for other lines."""
        line = self._lines[place]
        if "%" not in line or "oss" in line:
            return 0, 0
        begin = _message(self._templates[place])
        found = _FORMS["loop"].match(line, begin, begin + 500)  # the longest bar that terminals draw
        return (int(found[1]), int(found[2])) if found else (0, 0)

    def _is_transparent(self, place: int) -> bool:
        """Return whether a section continues below a line: it is blank, a bar that has not begun, or one with a name of its own."""
        line = self._lines[place]
        return not line.strip() or "0it [00:00, ?it/s]" in line or ("%|" in line and not self._bar(place)[1])


@lru_cache(maxsize=4096)
def _message(template: str) -> int:
    """Return where in the lines of `template` the message begins."""
    return max(template.rfind(strip_prefix(template).body), 0)


@lru_cache(maxsize=4096)
def _announces(template: str) -> bool:
    """Return whether the lines of `template` announce other work than training."""
    if len(template) >= 200 or not _FORMS["ahead"].search(template.rstrip()) or _FORMS["trains"].search(template):
        return False  # longer lines are no headings
    begins = _FORMS["begins"].search(template)
    works = _FORMS["other_work"].finditer(template)
    return any(work[0].endswith("ing") or (begins is not None and work.start() > begins.start()) for work in works)
