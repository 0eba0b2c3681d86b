"""A training loss that is no longer a number, and whether it looks like the reason why a log stops."""

import re

import msgspec

from schedmate_records import Evidence

from ..classified_chunk import PROGRESS, ClassifiedChunk
from ..track.not_finite import begins_at
from .matcher import READ

REPORTS = 50
"""Reports of a loss that is not a number after which nobody can have minded: the run was let go on."""

_NAN = re.compile(
    r"(?i)\b\w*loss\w*\W{1,6}(?:[a-z]*\W{1,3})?(?:(?:an?|has|be[ac]ome|turned|went|to|inf|infinite|or|value)\W{1,3}){0,4}nan\b"
)
_LOSS = re.compile(r"(?i)loss\w*\W{1,6}-?\d")


class NanWatch(msgspec.Struct):
    """Since when the training loss of one stream is not a number.

    Attributes:
        first: The first such report; null while the loss is a number.
        time: Its arrival.
        reports: How many such reports came.
        ends: Whether the last line of the stream is one of them.
    """

    first: Evidence | None = None
    time: float = 0.0
    reports: int = 0
    ends: bool = False

    @property
    def suspect(self) -> bool:
        """True where the stream stops at such a report, soon after the first."""
        return self.first is not None and self.ends and self.reports <= REPORTS

    def read(self, view: ClassifiedChunk) -> None:
        """Take the progress lines of `view`. Where the newest loss is a number, those before it do not count: a look at one line."""
        if self.first is None and begins_at(view) is None:
            return
        for index, letter in enumerate(view.classes):
            if letter != PROGRESS:
                continue
            line = view.lines[index][:READ]
            if _NAN.search(line):
                if self.first is None:
                    self.first, self.time, self.reports = view.evidence(index), view.times[index], 0
                self.reports += 1
            elif self.first is not None and _LOSS.search(line):
                self.first = None
        last = next((line for line in reversed(view.lines) if line.strip()), "")
        self.ends = bool(_NAN.search(last[:READ])) if last else self.ends


def mentioned(text: str) -> bool:
    """Return whether `text` can hold such a report: a scan for three words."""
    return "nan" in text or "NaN" in text or "NAN" in text
