"""A trained model at work: it follows submissions, starts and ends as they come, answers, and learns how wide its intervals must be."""

from collections import OrderedDict
from collections.abc import Iterable
from math import log1p

import numpy as np

from .estimate import DurationEstimate, Interval
from .feedback import OPEN_KEPT, IntervalFeedback
from .job import Completion, Submission
from .past_jobs import PastJobs
from .saved_model import SavedModel
from .serving import AdvisorPredictor


class LivePredictor:
    """Answers for one job at a time. Feed it what happens in the order of time; not safe for threads.

    Args:
        saved: The trained model.
    """

    def __init__(self, saved: SavedModel) -> None:
        self.version = saved.version
        """Names the model."""
        self.usual_error = saved.scores.get("median_log_error")
        """Median |ln p̂ - ln p| on the week before it was trained; None where not known."""
        self._pasts = PastJobs(saved.encoders)
        self._predictor = AdvisorPredictor(saved.model, saved.margins, saved.errors)
        self._errors = saved.errors
        self._options: OrderedDict[str, tuple[float, ...]] = OrderedDict()
        self._feedback = IntervalFeedback(saved.margins)

    def follow(self, events: Iterable[Submission | Completion], given: dict[str, Interval]) -> None:
        """Take in the past, in order. `given` holds the intervals that this very model gave, by job id: outcomes move its margins again."""
        for event in events:
            if isinstance(event, Completion):
                self.complete(event)
            else:
                self.submit(event, given.get(event.job_id))

    def estimate(self, job: Submission) -> DurationEstimate:
        """Return how long a job will probably run; nothing is remembered."""
        self._feedback.advance(job.submitted)
        return self._predictor.predict(self._pasts.features(job))

    def submit(self, job: Submission, given: Interval | None = None) -> None:
        """Remember that a job waits, and the interval that was given for it."""
        if given:
            found = self._predictor.predict(self._pasts.features(job))
            self._feedback.issue(job, given.low, given.high, found.low_share)
            if found.options:
                self._options[job.job_id] = found.options
                if len(self._options) > OPEN_KEPT:
                    self._options.popitem(last=False)
        self._pasts.submit(job)

    def start(self, job_id: str, at: float) -> None:
        """Remember when a job began to run."""
        self._feedback.start(job_id, at)

    def withdraw(self, job: Submission) -> None:
        """Remember that a job was cancelled before it ran."""
        self._pasts.withdraw(job)

    def complete(self, done: Completion) -> None:
        """Remember how long a job took."""
        self._pasts.complete(done)
        self._feedback.complete(done)
        if options := self._options.pop(done.job.job_id, None):
            self._errors.update(done.job.user, np.array(options), log1p(max(0.0, done.duration_s)))
