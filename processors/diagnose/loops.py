"""That a loop went on, or came to its end: what its counters and its rows of numbers say."""

import re
from collections.abc import Iterable

import msgspec

_COUNTER = re.compile(r"(?<![\d/.-])(\d{1,12}) ?/ {0,12}(\d{1,12})(?![\d/.])")
"""`20/100`, `[  1/3]`, `100 / 2000`; no date."""
_ROW = re.compile(r"\s*(\d{1,15})(?:[ \t]+\d+(?:\.\d+)?)+\s*")
"""`1024   4.12`: a size or a step, and what was measured there."""
ROWS = 3
"""Rows of a table, each with a larger number first, that show that a loop runs."""


class LoopEnd(msgspec.Struct):
    """Counters of consecutive reports.

    Attributes:
        totals: What the newest that was not at its end counts to.
        row: How the newest row of numbers begins; null where there was none.
        rows: How many of them grew.
    """

    totals: list[int] = []
    row: int | None = None
    rows: int = 0

    def reached(self, reports: Iterable[str]) -> bool:
        """Take `reports`; return whether in one all counters stand at their ends that were on their way before.

        One report alone shows nothing: a bar is drawn again where an exception closes it.
        """
        for line in reports:
            counters = [(int(one), int(total)) for one, total in _COUNTER.findall(line)]
            if not counters:
                continue
            totals = [total for _, total in counters]
            if any(one != total for one, total in counters):
                self.totals = totals
            elif self.totals == totals:
                return True
        return False

    def tabulated(self, lines: Iterable[str]) -> bool:
        """Take `lines`; return whether they and those before are a table that grows."""
        for line in lines:
            if found := _ROW.fullmatch(line):
                first = int(found[1])
                self.rows = self.rows + 1 if self.row is not None and first > self.row else 1
                self.row = first
        return self.rows >= ROWS
