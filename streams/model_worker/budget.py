"""Hourly limits of questions, by job and over all jobs."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable


class HourlyBudget:
    """Counts questions over the last hour. Not safe for threads.

    Args:
        per_job: Maximum questions about a job within an hour.
        in_all: Maximum questions about all jobs within an hour.
    """

    def __init__(self, per_job: int, in_all: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_job, self._in_all, self._clock = per_job, in_all, clock
        self._all: deque[float] = deque()
        self._jobs: OrderedDict[str, deque[float]] = OrderedDict()

    def spend(self, job: str) -> bool:
        """Take one question from the budget of `job` (empty: the common one alone); False, and nothing taken, where it is spent."""
        now = self._clock()
        spent = self._jobs.setdefault(job, deque()) if job else deque[float]()
        for times in (self._all, spent):
            while times and times[0] <= now - 3600.0:
                times.popleft()
        if len(self._all) >= self._in_all or len(spent) >= self._per_job:
            return False
        self._all.append(now)
        spent.append(now)
        if job:
            self._jobs.move_to_end(job)
            # Beyond 10,000 jobs the one that asked longest ago is forgotten.
            if len(self._jobs) > 10_000:
                self._jobs.popitem(last=False)
        return True

    def refund(self, job: str) -> None:
        """Give back the newest question of `job`: it could not be asked."""
        for times in (self._all, self._jobs.get(job)):
            if times:
                times.pop()
