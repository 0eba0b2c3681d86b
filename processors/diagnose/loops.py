"""When a loop comes to its end: its counter says it."""

import re
from collections.abc import Iterable

import msgspec

_COUNTER = re.compile(r"(?<![\d/.-])(\d{1,12}) ?/ {0,12}(\d{1,12})(?![\d/.])")
"""`20/100`, `[  1/3]`, `100 / 2000`; no date."""


class LoopEnd(msgspec.Struct):
    """Counters of consecutive reports.

    Attributes:
        totals: What the newest that was not at its end counts to.
    """

    totals: list[int] = []

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
