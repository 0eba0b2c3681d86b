"""Whether a trained model still does what it did when it came into use."""

from collections import deque
from math import exp
from statistics import median

import structlog

from .metrics import AdvisorMetrics

log = structlog.get_logger(__name__)

NEWEST = 200
"""Outcomes that are looked at."""
FEWEST = 50
"""Outcomes without which nothing is said."""
WORSE = 1.5
"""A model has drifted when its median |ln p̂ - ln p| is so many times that of the week before it came into use."""


class Drift:
    """Compares the newest outcomes of one model with its usual error; says so once each time that it drifts.

    Args:
        metrics: Where the error is shown.
    """

    def __init__(self, metrics: AdvisorMetrics) -> None:
        self._metrics = metrics
        self._errors: deque[float] = deque(maxlen=NEWEST)
        self._version = ""
        self._told = False

    def take(self, version: str, usual: float | None, error: float) -> None:
        """Take in one outcome.

        Args:
            version: Of the model that gave the estimate.
            usual: Its median |ln p̂ - ln p| before it came into use; None where not known.
            error: |ln p̂ - ln p| of the outcome.
        """
        if version != self._version:
            self._version, self._told = version, False
            self._errors.clear()
        self._errors.append(error)
        now = median(self._errors)
        self._metrics.error.set(exp(now))
        if usual is None or len(self._errors) < FEWEST:
            return
        drifted = now > WORSE * usual
        self._metrics.drifted.set(drifted)
        if drifted and not self._told:
            log.warning(
                "model_drifted", version=version, off_by=round(exp(now), 2), before=round(exp(usual), 2),
                hint="train again: schedmate advise train",
            )  # fmt: skip
        self._told = drifted
