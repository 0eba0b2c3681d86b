"""An estimate from jobs that ended, or none.

A resubmission answers from its own earlier runs. Else the jobs alike answer: the nearest three from a cosine of 0.90 on, weighted by it
(SchedMate §3.1). Both are scaled where the length differs: that of the metadata records, else an option such as `--epochs`. Durations are
averaged as logarithms. The interval is the 90 % prediction interval of a log-normal sample, mean ± t·s·√(1 + 1/n), with a floor under s:
two runs that took equally long do not show that the third will. No value exceeds the job's time limit.
"""

from collections.abc import Sequence
from math import expm1, log1p, sqrt

import msgspec

from schedmate_records import DurationMode

from ..modes import duration_modes
from ..time_limit import within_limit
from .command_line import scale
from .history import JobHistory
from .job import PastJob, SubmittedJob

RESUBMISSION, SIMILAR, UNKNOWN = "resubmission", "similar", "unknown"
THRESHOLD, TOP = 0.90, 3
"""SchedMate §3.1."""
LAST = 5
"""Earlier runs that answer."""
_FLOOR = {RESUBMISSION: 0.2, SIMILAR: 0.5}
"""Standard deviation of ln(1 + duration) at least."""
_T95 = (6.314, 2.920, 2.353, 2.132, 2.015)
"""Student's t, 95 %, for 1 to 5 degrees of freedom."""
_ALONE = 1.645
"""The 95 % quantile of the normal distribution, for a spread that is assumed and not measured."""
_WIDEST = 30.0
"""Maximum logarithm of a duration: e³⁰ seconds is longer than any job, and larger exponents overflow."""
_LONGER = 1e6
"""A length that differs by more is misread."""


class PastEstimate(msgspec.Struct, frozen=True):
    """Estimate from past jobs: nulls and `unknown` without similar jobs. Durations in seconds, utilisation in percent."""

    method: str
    duration_s: float | None = None
    low_s: float | None = None
    high_s: float | None = None
    gpu_utilisation: float | None = None
    jobs: tuple[str, ...] = ()
    modes: tuple[DurationMode, ...] = ()


class PastEstimator:
    """Asks a history; holds nothing itself."""

    def __init__(self, history: JobHistory) -> None:
        self._history = history

    def estimate(self, job: SubmittedJob) -> PastEstimate:
        """Return the estimate of a job that was not started yet."""
        runs = self._history.resubmissions(job)
        if runs:
            ended_well = [run for run in runs if run.completed]
            used = (ended_well or list(runs))[:LAST]
            found = _estimate(RESUBMISSION, [(run, 1.0) for run in used], job)
            durations = [run.duration_s * _longer(job, run.about) if run.completed else run.duration_s for run in runs]
            return msgspec.structs.replace(found, modes=tuple(duration_modes(durations, job.time_limit_s)))
        alike = [(past, cosine) for past, cosine in self._history.similar(job, TOP, THRESHOLD) if past.duration_s >= 0]
        return _estimate(SIMILAR, alike, job) if alike else PastEstimate(UNKNOWN)


def _estimate(method: str, weighted: Sequence[tuple[PastJob, float]], job: SubmittedJob) -> PastEstimate:
    logs = [log1p(past.duration_s * _longer(job, past.about)) for past, _ in weighted]
    weights = [weight for _, weight in weighted]
    mean = sum(value * weight for value, weight in zip(logs, weights, strict=True)) / sum(weights)
    width = _half_width(logs, mean, _FLOOR[method])
    used = [(past.gpu_utilisation, weight) for past, weight in weighted if past.gpu_utilisation is not None]
    median, low, high = (
        within_limit(expm1(min(each, _WIDEST)), job.time_limit_s) for each in (mean, mean - width, mean + width)
    )
    return PastEstimate(
        method,
        median,
        max(low, 0.0),
        high,
        sum(value * weight for value, weight in used) / sum(weight for _, weight in used) if used else None,
        tuple(past.about.job for past, _ in weighted),
    )


def _longer(now: SubmittedJob, before: SubmittedJob) -> float:
    """Return how much longer `now` trains: by the lengths that both records state in one unit, else by options."""
    one, other = now.workload, before.workload
    if (
        one
        and other
        and one.iter_type
        and one.iter_type == other.iter_type
        and (one.iters or 0) > 0 < (other.iters or 0)
    ):
        return min(max(float(one.iters or 0) / float(other.iters or 1), 1 / _LONGER), _LONGER)
    return scale(now.command, before.command)


def _half_width(logs: Sequence[float], mean: float, floor: float) -> float:
    count = len(logs)
    if count == 1:
        return _ALONE * 2 * floor * sqrt(2)
    spread = sqrt(sum((value - mean) ** 2 for value in logs) / (count - 1))
    known = _T95[min(count - 1, len(_T95)) - 1] * spread
    return max(known, _ALONE * floor) * sqrt(1 + 1 / count)
