"""The trained model that the advisor asks: loaded, brought up to date with the history, and loaded again when a newer one is in use."""

from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from processors.advise.predictors.dataset import replay
from processors.advise.predictors.estimate import Interval
from schedmate_records import ANSWERED

from ..cli.extras import MissingExtra, require
from .history_file import HistoryFile
from .job_views import completion, submission, submitted_job
from .metrics import AdvisorMetrics

if TYPE_CHECKING:
    from processors.advise.predictors.live import LivePredictor

log = structlog.get_logger(__name__)


class LiveModel:
    """The model in use, or none.

    Args:
        link: Points to the model in use (`schedmate advise train`).
        store: The history.
        metrics: What is counted.
    """

    def __init__(self, link: Path, store: HistoryFile, metrics: AdvisorMetrics) -> None:
        self._link, self._store, self._metrics = link, store, metrics
        self._seen: Path | None = None
        self.predictor: LivePredictor | None = None
        """Model in use."""

    def refresh(self) -> None:
        """Load the model in use where it is another than before. One that cannot be read leaves the old one at work."""
        folder = self._link.resolve() if self._link.exists() else None
        if folder == self._seen:
            return
        self._seen = folder
        if folder is None:
            return
        try:
            self.predictor = self._loaded(folder)
        except (MissingExtra, ValueError, OSError) as error:
            self._metrics.models_refused.inc()
            log.error("model_refused", folder=str(folder), error=str(error))
            return
        self._metrics.models_loaded.inc()
        self._metrics.drifted.set(0)
        log.info("model_loaded", folder=str(folder), version=self.predictor.version)

    def _loaded(self, folder: Path) -> "LivePredictor":
        require("lightgbm")
        from processors.advise.predictors.live import LivePredictor

        from .model_files import load

        predictor = LivePredictor(load(folder))
        given = {
            each.job: Interval(each.duration_low_s or 0.0, each.duration_high_s)
            for each in self._store.estimates()
            if each.model == predictor.version and each.duration_high_s is not None and each.revision != ANSWERED
        }
        # Older jobs than the newest 50,000 hardly resemble a new one.
        predictor.follow(replay([completion(past) for past in self._store.newest(50_000)]), given)
        predictor.follow((submission(submitted_job(event)) for event in self._store.waiting()), given)
        for event in self._store.running():
            predictor.start(event.job, event.time)
        return predictor
