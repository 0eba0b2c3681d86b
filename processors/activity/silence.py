"""How long a job's reports may stay away."""

import msgspec

from processors.read.robust import median
from records import Evidence

GAPS = 16
"""Gaps between reports that are remembered."""
LEAST_GAPS = 3
"""Fewer say nothing."""
TIMES_USUAL, TIMES_LONGEST = 10.0, 2.5
"""Reports that stay away for so many times the usual gap, and the longest one, are an alarm by themselves."""


class Silence(msgspec.Struct):
    """The rhythm of a job's reports, over all its ranks.

    Attributes:
        step: The highest training step reported; null where none is named.
        time: Arrival of the last sign of progress; 0 before the first.
        gaps: Seconds between reports, the newest.
        longest: The longest of all gaps so far: an evaluation or a checkpoint between.
        evidence: The last report.
    """

    step: int | None = None
    time: float = 0.0
    gaps: list[float] = []
    longest: float = 0.0
    evidence: Evidence | None = None

    def reported(self, step: int | None, time: float, evidence: Evidence | None) -> bool:
        """Take a report; return whether it shows progress. One that names the same step again shows none."""
        if step is not None and step == self.step:
            return False
        if self.time and time > self.time:
            self.gaps = [*self.gaps, time - self.time][-GAPS:]
            self.longest = max(self.longest, time - self.time)
        self.step, self.evidence = step, evidence
        self.time = max(time, self.time)
        return True

    def limit(
        self, least: float, times_usual: float = TIMES_USUAL, times_longest: float = TIMES_LONGEST
    ) -> float | None:
        """Return how many seconds without a report are an alarm, at least `least`; None where too few reports came to tell."""
        if len(self.gaps) < LEAST_GAPS:
            return None
        return max(least, times_usual * median(self.gaps), times_longest * self.longest)
