"""Topic `estimates`: what the scheduling advisor predicts."""

import msgspec

from .base import Evidence, Record

ANSWERED = 1
"""`Estimate.revision` of the estimate that a language model's answer about the source completed: above that of the submission, 0, and below
those of the job's progress, whenever it comes. So no number depends on how the topics interleave."""


class DurationMode(msgspec.Struct, frozen=True):
    """One of several modes of the durations of similar jobs, such as jobs that fail at once.

    Attributes:
        share: Share of the past jobs in this mode, 0 to 1.
        low_s: Shortest duration of the mode.
        high_s: Longest duration of the mode.
    """

    share: float
    low_s: float
    high_s: float


class Estimate(Record, frozen=True, kw_only=True):
    """Duration and utilisation that a job will probably have (SchedMate §3.1). Key: the job. Unknown is null, never a guess.

    The highest revision of an attempt is valid.

    Attributes:
        id: Follows from the input position.
        job: The scheduler's job id.
        attempt: Restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        revision: 0 at the submission, 1 once a language model described the job, from 2 on by its progress; those grow with each
            estimate.
        time: When it was made, in seconds since 1970.
        duration_s: Expected duration, from start to end of the attempt.
        duration_low_s: Lower end of the 90 % interval.
        duration_high_s: Upper end of the interval.
        modes: Modes of the past durations, the shortest first; empty if there is only one.
        remaining_s: Expected seconds from `time` to the end; null where no progress shows it.
        remaining_low_s: Lower end of the 90 % interval.
        remaining_high_s: Upper end of the interval.
        done: Share of the work that is done, 0 to 1.
        gpu_utilisation: Expected utilisation, in percent.
        similar_jobs: Past jobs that were used.
        model: Version of the trained model that answered; empty for other methods.
        method: `progress`, `resubmission`, `similar` or `predictor`; `unknown` if an estimate is withdrawn.
        evidence: The report that was used.
    """

    id: str
    job: str
    attempt: int = 0
    incarnation: str = ""
    revision: int = 0
    time: float
    duration_s: float | None = None
    duration_low_s: float | None = None
    duration_high_s: float | None = None
    modes: list[DurationMode] = []
    remaining_s: float | None = None
    remaining_low_s: float | None = None
    remaining_high_s: float | None = None
    done: float | None = None
    gpu_utilisation: float | None = None
    similar_jobs: list[str] = []
    method: str = ""
    model: str = ""
    evidence: list[Evidence] = []
