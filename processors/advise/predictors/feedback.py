"""Updates the margins with the outcomes of intervals."""

import heapq
from collections import OrderedDict

from .intervals import MISSES, AdaptiveMargins
from .job import Completion, Submission

OPEN_KEPT = 200_000
"""Jobs without an end that are remembered; beyond it the oldest teach nothing."""
SLACK = 1_000
"""Bounds of jobs that have ended already, which are kept until there are this many."""


class IntervalFeedback:
    """A job past its upper bound is a miss at once, not only at its end: else short jobs would teach first and long ones late."""

    def __init__(self, margins: AdaptiveMargins) -> None:
        self._margins = margins
        self._open: OrderedDict[str, tuple[Submission, float, float, float]] = OrderedDict()
        self._overdue: list[tuple[float, str]] = []

    def issue(self, job: Submission, low_s: float, high_s: float, low_share: float = MISSES / 2) -> None:
        """Remember the interval of a submission, in seconds of running, and the share of such jobs that are meant to be shorter."""
        self._open[job.job_id] = (job, low_s, high_s, low_share)
        if len(self._open) > OPEN_KEPT:
            self._open.popitem(last=False)

    def start(self, job_id: str, at: float) -> None:
        """Note when a job began to run (Unix seconds): its upper bound counts from here."""
        if given := self._open.get(job_id):
            heapq.heappush(self._overdue, (at + given[2], job_id))
            if len(self._overdue) > 2 * len(self._open) + SLACK:
                self._overdue = [entry for entry in self._overdue if entry[1] in self._open]
                heapq.heapify(self._overdue)

    def advance(self, now: float) -> None:
        """Learn from the jobs that ran past their upper bound before `now`."""
        while self._overdue and self._overdue[0][0] < now:
            _, job_id = heapq.heappop(self._overdue)
            if given := self._open.pop(job_id, None):
                self._margins.update(given[0], short=False, long=True, low_share=given[3])

    def complete(self, done: Completion) -> None:
        """Learn from a job that ended; one that was counted as too long already is passed over."""
        if given := self._open.pop(done.job.job_id, None):
            job, low, high, share = given
            self._margins.update(job, short=done.duration_s < low, long=done.duration_s > high, low_share=share)
