"""Topic `estimates`: what the scheduling advisor predicts."""

from .base import Record


class Estimate(Record, frozen=True, kw_only=True):
    """Duration and utilisation that a job will probably have (SchedMate §3.1). Key: the job.

    Attributes:
        id: Follows from the input position.
        job: The scheduler's job id.
        time: When it was made, in seconds since 1970.
        duration_s: Expected duration.
        duration_low_s: Lower end of the interval.
        duration_high_s: Upper end of the interval.
        gpu_utilisation: Expected utilisation, in percent.
        similar_jobs: The past jobs that it rests on.
        method: `resubmission`, `similar` or `predictor`.
    """

    id: str
    job: str
    time: float
    duration_s: float | None = None
    duration_low_s: float | None = None
    duration_high_s: float | None = None
    gpu_utilisation: float | None = None
    similar_jobs: list[str] = []
    method: str = ""
