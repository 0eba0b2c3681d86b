"""Whether a trained model still does what it did when it came into use."""

from collections import deque
from collections.abc import Iterable, Sequence
from math import exp, log1p
from statistics import median

import msgspec
import structlog

from processors.advise.past import PastJob
from schedmate_records import Estimate

from .metrics import AdvisorMetrics

log = structlog.get_logger(__name__)

NEWEST = 200
"""Outcomes that are looked at."""
FEWEST = 50
"""Minimum number of outcomes for a statement about the error; about the intervals it is `NEWEST`."""
INSIDE = (0.84, 0.96)
"""Or when the share of jobs inside their 90 % interval leaves this band: by chance that of 200 jobs does so once in 200 times."""


class ScoredEstimate(msgspec.Struct, frozen=True):
    """Result of an estimate.

    Attributes:
        error: |ln(1 + p̂) - ln(1 + p)|.
        inside: Whether the duration was within the interval.
    """

    error: float
    inside: bool


class Calibration(msgspec.Struct, frozen=True):
    """Results of the newest estimates of one model.

    Attributes:
        outcomes: How many were looked at.
        error: Their median error; 0 without any.
        usual: The model's on the week before it came into use; None where not known.
        inside: The share inside their interval; 0 without any.
    """

    outcomes: int
    error: float
    usual: float | None
    inside: float

    @property
    def drifted(self) -> bool:
        """Whether errors have grown, or intervals have become too narrow or too wide."""
        # A model has drifted when its median |ln p̂ - ln p| is 1.5 times that of the week before it came into use.
        worse = self.usual is not None and self.outcomes >= FEWEST and self.error > 1.5 * self.usual
        return worse or (self.outcomes >= NEWEST and not INSIDE[0] <= self.inside <= INSIDE[1])

    def __str__(self) -> str:
        usual = f" ({exp(self.usual):.2f} when it came into use)" if self.usual is not None else ""
        return (
            f"of its newest {self.outcomes} estimates {100 * self.inside:.1f} % of the jobs were inside "
            f"({100 * INSIDE[0]:.0f} to {100 * INSIDE[1]:.0f} % is no drift), median factor off {exp(self.error):.2f}{usual}"
        )


def outcome(estimate: Estimate, took_s: float) -> ScoredEstimate | None:
    """Return how an estimate turned out; None if it had no duration."""
    if estimate.duration_s is None:
        return None
    inside = (estimate.duration_low_s or 0.0) <= took_s <= (estimate.duration_high_s or 0.0)
    return ScoredEstimate(abs(log1p(estimate.duration_s) - log1p(took_s)), inside)


def calibration(outcomes: Sequence[ScoredEstimate], usual: float | None) -> Calibration:
    """Return what outcomes come to."""
    if not outcomes:
        return Calibration(0, 0.0, usual, 0.0)
    inside = sum(each.inside for each in outcomes) / len(outcomes)
    return Calibration(len(outcomes), median(each.error for each in outcomes), usual, inside)


def newest_outcomes(scored: Iterable[tuple[Estimate, PastJob]], version: str) -> list[ScoredEstimate]:
    """Return how the newest estimates of a model turned out, from all that ended in the order of their ends. Failed jobs count nothing."""
    kept: deque[ScoredEstimate] = deque(maxlen=NEWEST)
    for estimate, past in scored:
        if estimate.model == version and past.completed and (found := outcome(estimate, past.duration_s)):
            kept.append(found)
    return list(kept)


class Drift:
    """Compares the newest outcomes of one model with its earlier ones; logs once each time that it drifts.

    Args:
        metrics: Where the error is shown.
    """

    def __init__(self, metrics: AdvisorMetrics) -> None:
        self._metrics = metrics
        self._outcomes: deque[ScoredEstimate] = deque(maxlen=NEWEST)
        self._version = ""
        self._told = False

    def add_outcome(self, version: str, usual: float | None, one: ScoredEstimate) -> None:
        """Take in one outcome.

        Args:
            version: Of the model that gave the estimate.
            usual: Its median |ln p̂ - ln p| before it came into use; None where not known.
            one: The outcome.
        """
        if version != self._version:
            self._version, self._told = version, False
            self._outcomes.clear()
        self._outcomes.append(one)
        now = calibration(self._outcomes, usual)
        self._metrics.error.set(exp(now.error))
        self._metrics.drifted.set(now.drifted)
        if now.drifted and not self._told:
            log.warning("model_drifted", version=version, detail=str(now), hint="schedmate advise train --when-drifted")
        self._told = now.drifted
