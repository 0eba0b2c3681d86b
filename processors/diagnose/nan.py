"""A training loss that is no number any more, and whether it is the likely reason why a log stops."""

import re

import msgspec

from schedmate_records import Evidence

from ..classified_chunk import PROGRESS, ClassifiedChunk
from ..track.not_finite import begins_at
from .matcher import MAX_CHARACTERS

MAX_REPORTS = 50
"""Reports of such a loss after which it is no reason: the program ran on with it."""
_PATTERNS = {
    "nan": re.compile(
        r"(?i)\b\w*loss\w*\W{1,6}(?:[a-z]*\W{1,3})?(?:(?:an?|has|be[ac]ome|turned|went|to|inf|infinite|or|value)\W{1,3}){0,4}nan\b"
    ),
    "number": re.compile(r"(?i)loss\w*\W{1,6}-?\d"),
}


class NanLoss(msgspec.Struct):
    """Since when the training loss of one stream is no number.

    Attributes:
        first: The first such report; null while the loss is a number.
        time: Its arrival, in seconds since 1970.
        reports: Number of such reports.
        is_last: True if the last line of the stream is one of them.
    """

    first: Evidence | None = None
    time: float = 0.0
    reports: int = 0
    is_last: bool = False

    @property
    def is_suspect(self) -> bool:
        """True where the stream stops at such a report, soon after the first."""
        return self.first is not None and self.is_last and self.reports <= MAX_REPORTS

    def read(self, view: ClassifiedChunk) -> None:
        """Read the progress lines of `view`; the newest line alone if the newest loss is a number."""
        if self.first is None and begins_at(view) is None:
            return
        for index, letter in enumerate(view.classes):
            if letter != PROGRESS:
                continue
            line = view.lines[index][:MAX_CHARACTERS]
            if _PATTERNS["nan"].search(line):
                if self.first is None:
                    self.first, self.time, self.reports = view.evidence(index), view.times[index], 0
                self.reports += 1
            elif self.first is not None and _PATTERNS["number"].search(line):
                self.first = None
        last = next((line for line in reversed(view.lines) if line.strip()), "")
        self.is_last = bool(_PATTERNS["nan"].search(last[:MAX_CHARACTERS])) if last else self.is_last


def mentions_nan(text: str) -> bool:
    """Return whether `text` can hold such a report."""
    return "nan" in text or "NaN" in text or "NAN" in text
