"""Estimates of durations from the jobs that had ended when a job was submitted."""

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from statistics import geometric_mean

import msgspec

from .job import Job

REMEMBERED = 5
"""Number of a user's last jobs that an estimate uses."""


def with_estimates(jobs: Sequence[Job], estimates: Mapping[str, float]) -> list[Job]:
    """Return the jobs with the durations that someone else estimated, in seconds by job; others have none."""
    return [msgspec.structs.replace(job, estimate_s=estimates.get(job.job_id)) for job in jobs]


def with_history(
    jobs: Sequence[Job], last: int = REMEMBERED, average: Callable[[Sequence[float]], float] = geometric_mean
) -> list[Job]:
    """Return the jobs with estimates from their user's last jobs that had ended at the submission.

    Jobs of the same number of GPUs are preferred, then the user's other jobs, then those of the partition. A job without any gets no
    estimate. If a trace names no users, the partition replaces them.

    Args:
        jobs: In the order in which they were submitted.
        last: Number of jobs that an estimate uses.
        average: Average of their durations in seconds, each at least 1.
    """
    logs: dict[tuple[object, ...], deque[float]] = defaultdict(lambda: deque(maxlen=last))
    ending: list[tuple[float, int]] = []
    estimated = []
    for place, job in enumerate(jobs):
        while ending and ending[0][0] <= job.submit_s:
            done = jobs[heapq.heappop(ending)[1]]
            for key in _keys(done):
                logs[key].append(max(1.0, done.duration_s))
        known = next((logs[key] for key in _keys(job) if key in logs), None)
        estimated.append(msgspec.structs.replace(job, estimate_s=average(known) if known else None))
        heapq.heappush(ending, (job.submit_s + job.duration_s, place))
    return estimated


def _keys(job: Job) -> tuple[tuple[object, ...], ...]:
    user = (job.partition, job.user)
    return (*user, job.total_gpus), user, (job.partition,)
