"""The live memory of past jobs from which features are made; `dataset.build` and `similar.gather` replay the same for training."""

import numpy as np

from .estimate import JobFeatures
from .features import Encoders
from .history import History
from .job import Completion, Submission
from .similar import Recent


class PastJobs:
    """Feed it each submission and each end in the order of time, and ask for features before the submission is fed."""

    def __init__(self, encoders: Encoders) -> None:
        self._encoders = encoders
        self._history = History(encoders.prior)
        self._recent = Recent()

    def features(self, job: Submission) -> JobFeatures:
        """Return what is known of a job; nothing is remembered."""
        row = np.array(self._encoders.row(job, self._history))
        return JobFeatures(job, row, self._recent.candidates(job))

    def submit(self, job: Submission) -> None:
        """Remember that a job waits or runs."""
        self._history.submit(job, self._encoders.keys(job))
        self._recent.submit(job)

    def withdraw(self, job: Submission) -> None:
        """Remember that a job was cancelled before it ran."""
        self._history.withdraw(job, self._encoders.keys(job))
        self._recent.withdraw(job)

    def complete(self, done: Completion) -> None:
        """Remember how long a job took."""
        self._history.complete(done, self._encoders.keys(done.job))
        self._recent.complete(done)
