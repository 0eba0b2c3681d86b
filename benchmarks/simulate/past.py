"""A workload cut in two: what is only remembered, and what is replayed."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from processors.spot.settings import CLUSTER
from schedmate.simulate.job import Job, JobClass

HOUR = 3600.0
"""Seconds of an hour."""


def split_past(jobs: Sequence[Job], at_s: float) -> tuple[list[Job], Mapping[str, Sequence[float]]]:
    """Return the jobs to replay from `at_s` on, and the hourly demand of high-priority jobs before it.

    The past is that of a cluster without waiting: each job runs from its submission on. What would still run at `at_s` is submitted
    then, with the work that is left; what ended before is remembered as demand alone. So a policy meets a cluster in use, and a
    forecaster has a history, at no cost of replaying weeks.

    Args:
        jobs: In the order in which they were submitted, from second 0 on.
        at_s: The start of an hour.

    Returns:
        The jobs, in the order in which they are now submitted, and by organisation the GPUs that its high-priority jobs had at most in
        each hour before `at_s`, oldest first. The key `CLUSTER` has the same of all of them together.

    Raises:
        ValueError: `at_s` is not the start of an hour.
    """
    if at_s < 0 or at_s % HOUR:
        raise ValueError(f"expected the start of an hour, got second {at_s:g}")
    changes: dict[str, list[tuple[float, float]]] = defaultdict(list)
    kept: list[Job] = []
    for job in jobs:
        end = job.submit_s + job.duration_s
        if job.submit_s >= at_s:
            kept.append(job)
        elif end > at_s:
            kept.append(msgspec.structs.replace(job, submit_s=at_s, duration_s=end - at_s))
        if job.job_class is JobClass.HP and job.submit_s < at_s:
            for name in (job.user, CLUSTER):
                changes[name] += [(job.submit_s, job.total_gpus), (end, -job.total_gpus)]
    users = sorted({CLUSTER, *(job.user for job in jobs if job.job_class is JobClass.HP)})
    return sorted(kept, key=lambda job: job.submit_s), {user: _peaks(changes[user], at_s) for user in users}


def _peaks(changes: list[tuple[float, float]], until_s: float) -> Sequence[float]:
    """Return the largest sum of changes so far in each hour; the ends of a moment come before its starts."""
    peaks = np.zeros(math.ceil(until_s / HOUR))
    total, reached = 0.0, 0
    for at, gpus in sorted(changes):
        hour = min(int(at // HOUR), len(peaks))
        peaks[reached:hour] = np.maximum(peaks[reached:hour], total)
        if at >= until_s:
            break
        reached = max(reached, hour)
        peaks[hour] = max(peaks[hour], total, total + gpus)
        total += gpus
    peaks[reached:] = np.maximum(peaks[reached:], total)
    return [float(peak) for peak in peaks]
