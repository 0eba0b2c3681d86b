"""What a job's duration would have been thought to be when it was submitted, from what had ended by then."""

import heapq
import math
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from statistics import fmean

import msgspec

from .job import Job

REMEMBERED = 5
"""Last jobs of a user that the estimate rests on."""


def with_estimates(jobs: Sequence[Job], estimates: Mapping[str, float]) -> list[Job]:
    """Return the jobs with the durations that someone else estimated, in seconds by job; others have none."""
    return [msgspec.structs.replace(job, estimate_s=estimates.get(job.job_id)) for job in jobs]


def with_history(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs with estimates: the geometric mean of what their user's last jobs took that had ended when they were submitted.

    Those of equally many GPUs come first, then the user's others, then those of the partition. A job that has neither gets no estimate.
    Where a trace names no users, the partition is used in their place.

    Args:
        jobs: In the order in which they were submitted.
    """
    logs: dict[tuple[object, ...], deque[float]] = defaultdict(lambda: deque(maxlen=REMEMBERED))
    ending: list[tuple[float, int]] = []
    estimated = []
    for place, job in enumerate(jobs):
        while ending and ending[0][0] <= job.submit_s:
            done = jobs[heapq.heappop(ending)[1]]
            for key in _keys(done):
                logs[key].append(math.log(max(1.0, done.duration_s)))
        known = next((logs[key] for key in _keys(job) if key in logs), None)
        estimate = math.exp(fmean(known)) if known else None
        estimated.append(msgspec.structs.replace(job, estimate_s=estimate))
        heapq.heappush(ending, (job.submit_s + job.duration_s, place))
    return estimated


def _keys(job: Job) -> tuple[tuple[object, ...], ...]:
    user = (job.partition, job.user)
    return (*user, job.total_gpus), user, (job.partition,)
