"""A training loss that is no longer a number, and whether it looks like the reason why a log stops."""

import re
from functools import lru_cache

import msgspec

from processors.classified_chunk import PROGRESS, ClassifiedChunk
from processors.grammar.extractor import LONGEST
from records import Evidence

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
        if self.first is None and not _newest_is_nan(view):
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


def _newest_is_nan(view: ClassifiedChunk) -> bool:
    place = view.classes.rfind(PROGRESS)
    while place >= 0:
        template = view.templates[place]
        told = _is_nan(template if len(template) < LONGEST else view.lines[place][:READ])
        if told is not None:
            return told
        place = view.classes.rfind(PROGRESS, 0, place)
    return False


@lru_cache(maxsize=4096)
def _is_nan(template: str) -> bool | None:
    """Return whether the loss in the lines of `template` is no number; None where they hold no loss."""
    if "oss" not in template and "OSS" not in template:
        return None
    return True if _NAN.search(template) else False if _LOSS.search(template) else None


def mentioned(text: str) -> bool:
    """Return whether `text` can hold such a report: a scan for three words."""
    return "nan" in text or "NaN" in text or "NAN" in text
