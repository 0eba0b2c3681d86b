"""Statistics of past jobs for a new job, from jobs that ended before its submission.

ATLAS (section 3.1) lags its expanding statistics by one *submission*, so they know the duration of a job that may still run.
Here a duration counts once its job has ended. A running job contributes the time that it has run so far.

Each statistic is of y = ln(1 + duration in seconds). One `History` serves training, evaluation and the live service,
so that a feature means the same in all three.
"""

import math
from collections import OrderedDict, deque
from collections.abc import Hashable
from statistics import quantiles

from .job import Completion, Submission

SPAN = 10
"""The span of the moving average, whose weight of the newest is 2 / (SPAN + 1) (ATLAS, section 3.1)."""
SHRINKAGE = 5.0
"""λ of the empirical Bayes mean (n·mean + λ·prior) / (n + λ) (ATLAS, Algorithm 1, line 13)."""
RECENT = 15
"""Number of last durations used for quartiles."""
KEYS_KEPT = 200_000
"""Keys remembered; those without news for longest are forgotten first, so that made-up names cannot fill the memory."""
RUNNING_KEPT = 64
"""Running jobs of one key that are looked at."""

NAN = math.nan
STATISTICS = (
    "count", "mean", "ewma", "std", "last", "second_last", "third_last", "lower_quartile", "median", "upper_quartile", "failed",
    "since_end", "since_submission", "running", "youngest", "oldest",
)  # fmt: skip
"""Statistics of each key, in this order. Numbers are logarithms of 1 + seconds; `count` of 1 + jobs; `failed` a moving share."""


class _Past:
    """Statistics of the earlier jobs of one key."""

    __slots__ = ("count", "ended", "ewma", "failed", "mean", "recent", "running", "square", "submitted")

    def __init__(self) -> None:
        self.count = 0
        self.mean = self.square = self.ewma = self.failed = 0.0
        self.recent: deque[float] = deque(maxlen=RECENT)
        self.ended = self.submitted = -math.inf
        self.running: OrderedDict[str, float] = OrderedDict()

    def submit(self, job: Submission) -> None:
        self.submitted = max(self.submitted, job.submitted)
        self.running[job.job_id] = job.submitted
        if len(self.running) > RUNNING_KEPT:
            self.running.popitem(last=False)

    def withdraw(self, job_id: str) -> None:
        self.running.pop(job_id, None)

    def complete(self, done: Completion, y: float) -> None:
        self.running.pop(done.job.job_id, None)
        self.count += 1
        step = y - self.mean
        self.mean += step / self.count
        self.square += step * (y - self.mean)
        weight = 2 / (SPAN + 1) if self.count > 1 else 1.0
        self.ewma += weight * (y - self.ewma)
        self.failed += weight * (done.failed - self.failed)
        self.recent.append(y)
        self.ended = max(self.ended, done.ended)

    def statistics(self, now: float, prior: float) -> list[float]:
        """Return the numbers of `STATISTICS`; NaN where there is none."""
        last = [*reversed(self.recent)][:3]
        last += [NAN] * (3 - len(last))
        ages = [math.log1p(max(0.0, now - start)) for start in self.running.values()]
        if self.count:
            shrunk = (self.count * self.mean + SHRINKAGE * prior) / (self.count + SHRINKAGE)
            spread = math.sqrt(self.square / self.count)
            few = len(self.recent) == 1
            quartiles = [self.recent[0]] * 3 if few else quantiles(self.recent, method="inclusive")
            told = [math.log1p(self.count), shrunk, self.ewma, spread, *last, *quartiles, self.failed]
        else:
            told = [0.0, prior, *[NAN] * 9]
        return [
            *told,
            math.log1p(max(0.0, now - self.ended)) if self.ended > -math.inf else NAN,
            math.log1p(max(0.0, now - self.submitted)) if self.submitted > -math.inf else NAN,
            math.log1p(len(ages)),
            min(ages, default=NAN),
            max(ages, default=NAN),
        ]


_NOTHING = _Past()


class History:
    """Counts what ended, key by key. Call `submit` and `complete` in the order of time, `statistics` in between."""

    def __init__(self, prior: float) -> None:
        self.prior = prior
        """The mean of y over the training jobs: what is expected of a key without a past."""
        self._pasts: OrderedDict[Hashable, _Past] = OrderedDict()

    def submit(self, job: Submission, keys: tuple[Hashable, ...]) -> None:
        """Remember that `job` waits or runs, under each of its keys."""
        for key in keys:
            self._past_of_key(key).submit(job)

    def withdraw(self, job: Submission, keys: tuple[Hashable, ...]) -> None:
        """Remember that a job neither waits nor runs any more, and never ran."""
        for key in keys:
            if past := self._pasts.get(key):
                past.withdraw(job.job_id)

    def complete(self, done: Completion, keys: tuple[Hashable, ...]) -> None:
        """Remember how long a job took, under each of its keys."""
        y = math.log1p(max(0.0, done.duration_s))
        for key in keys:
            self._past_of_key(key).complete(done, y)

    def statistics(self, now: float, keys: tuple[Hashable, ...]) -> list[float]:
        """Return `STATISTICS` of each key at the time `now`, one after the other."""
        found: list[float] = []
        for key in keys:
            found += self._pasts.get(key, _NOTHING).statistics(now, self.prior)
        return found

    def _past_of_key(self, key: Hashable) -> _Past:
        past = self._pasts.get(key)
        if past is None:
            past = self._pasts[key] = _Past()
            if len(self._pasts) > KEYS_KEPT:
                self._pasts.popitem(last=False)
        else:
            self._pasts.move_to_end(key)
        return past
