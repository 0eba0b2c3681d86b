"""Estimates of jobs that are not submitted yet, from the history and the trained model as they are now."""

import time
from pathlib import Path

import msgspec

from processors.advise.past import MemoryHistory, PastEstimate, PastEstimator, SubmittedJob
from processors.advise.past.estimator import UNKNOWN
from processors.advise.past.vectors import MOST
from processors.advise.predictors.estimate import PREDICTOR

from .history_file import HistoryFile
from .job_views import completion, submission
from .live_model import LiveModel
from .metrics import AdvisorMetrics


class Answers:
    """Estimates from past jobs, and from the trained model where no past job is similar.

    Args:
        store: The history; others may write to it.
        model: Points to the trained model; nothing need be there.
        history: The past jobs of `store`; all in memory where not given.
    """

    def __init__(self, store: HistoryFile, model: Path, history: MemoryHistory | None = None) -> None:
        self._store = store
        self._history = store.load() if history is None else history
        self._estimator = PastEstimator(self._history)
        self._model = LiveModel(model, store, AdvisorMetrics())
        self._newest, self._version = store.newest_end(), store.data_version()

    def __len__(self) -> int:
        return len(self._history)

    def refresh(self) -> None:
        """Take in the jobs that ended since, and a newer model. Jobs that ended before and were imported since are not seen."""
        self._model.refresh()
        version = self._store.data_version()
        if version == self._version:
            return
        self._version = version
        for past in self._store.ended_since(self._newest, MOST):
            self._history.add(past)
            self._newest = past.ended
            if predictor := self._model.predictor:
                predictor.complete(completion(past))

    def estimate(self, job: SubmittedJob) -> PastEstimate:
        """Return the estimate; of method `unknown` where neither answers."""
        found = self._estimator.estimate(job)
        if found.method != UNKNOWN:
            return found
        self._model.refresh()
        if (predictor := self._model.predictor) is None:
            return found
        predicted = predictor.estimate(submission(msgspec.structs.replace(job, submitted=job.submitted or time.time())))
        return PastEstimate(
            PREDICTOR, predicted.median, predicted.low, predicted.high, None, predicted.rests_on, predicted.modes
        )
