"""The narrow interface between the live advisor and whatever predicts durations."""

from typing import Protocol

import msgspec

from schedmate_records import DurationMode

from .dataset import Vector
from .job import Submission
from .similar import Candidates

PREDICTOR = "predictor"
"""`Estimate.method` of the record where a trained model answered."""


class JobFeatures(msgspec.Struct, frozen=True):
    """All that a predictor may look at; `PastJobs.features` makes it at submission."""

    job: Submission
    row: Vector
    """The features of `features.NAMES`, shape (len(NAMES),)."""
    candidates: Candidates
    """Past jobs that this one may repeat."""


class DurationEstimate(msgspec.Struct, frozen=True):
    """Estimated duration of a job, in seconds from its start to its end."""

    median: float
    low: float
    high: float
    """Nine of ten jobs are meant to end within low to high."""
    rests_on: tuple[str, ...] = ()
    """Ids of the past jobs that weigh most, the heaviest first; none where trees alone answered."""
    modes: tuple[DurationMode, ...] = ()
    """Modes of the past jobs of the user; empty if there is only one."""
    low_share: float = 0.05
    """Share of jobs that is meant to be shorter than `low`."""
    options: tuple[float, ...] = ()
    """ln(1 + duration) by the model and by each of `BASELINES`; empty without past jobs."""


class Interval(msgspec.Struct, frozen=True):
    """The bounds of an estimate that was given, in seconds."""

    low: float
    high: float


class DurationPredictor(Protocol):
    """Answers at once, from features alone; it holds no state that a call changes."""

    def predict(self, features: JobFeatures) -> DurationEstimate:
        """Return the estimate of one job."""
        ...
