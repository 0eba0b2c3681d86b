"""What is known of how long jobs take, from nothing to what the whole pipeline would know."""

import heapq
import math
import random
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence

from processors.advise.past import PastEstimator, PastJob, SubmittedJob
from processors.advise.past.estimator import LAST
from schedmate.advisor.starts import Expected, Known
from schedmate.simulate.job import Job
from scheduler_bridge.schedulers import JobView, SchedulerJobState

from .looks import Look

SHOWS_PROGRESS = 0.35
"""Share of the jobs whose log says how far they are: a little more than a third of the corpus's (docs/estimates.md)."""
PROGRESS_AFTER_S = 600.0
PROGRESS_DEVIATION = 0.055 / 0.6745
"""Of the logarithm of what remains: its median error on held-out logs was 5.5 %."""
SIDE = 1.6449
"""Deviations from the middle of a normal distribution to the end of what holds 90 % of it."""

CERTAIN = 1e-6
"""Half of the width of an interval that leaves nothing open, in parts of its middle."""

Intervals = Mapping[str, tuple[float, float, float]]
"""By job, what was said of its duration at its submission: the middle, and both ends of a 90 % interval; in seconds."""


class LastRuns:
    """A `JobHistory` of a trace that names no commands: jobs of a user with as many GPUs stand for runs of the same program."""

    def __init__(self) -> None:
        self._runs: dict[str, deque[PastJob]] = defaultdict(lambda: deque(maxlen=LAST))

    def add(self, past: PastJob) -> None:
        """Take in a job that ended."""
        self._runs[past.about.command].appendleft(past)

    def resubmissions(self, job: SubmittedJob) -> Sequence[PastJob]:
        """Return its last runs, the newest first."""
        return list(self._runs[job.command])

    def similar(self, job: SubmittedJob, count: int, threshold: float) -> Sequence[tuple[PastJob, float]]:  # noqa: ARG002
        """Return nothing: of what no command is known, nothing is like it."""
        return []


def advised(jobs: Sequence[Job]) -> Intervals:
    """Return what the advisor says of each job at its submission, from what had ended by then; nothing of those that nothing ended of.

    Ends are those without a wait: a submission and the duration, as the trace has no starts.

    Args:
        jobs: In the order in which they were submitted.
    """
    history = LastRuns()
    estimator, ending = PastEstimator(history), list[tuple[float, int]]()
    found = {}
    for place, job in enumerate(jobs):
        while ending and ending[0][0] <= job.submit_s:
            ended, which = heapq.heappop(ending)
            history.add(PastJob(about=_submitted(jobs[which]), ended=ended, duration_s=jobs[which].duration_s))
        told = estimator.estimate(_submitted(job))
        if told.duration_s is not None and told.low_s is not None and told.high_s is not None:
            found[job.job_id] = told.duration_s, told.low_s, told.high_s
        heapq.heappush(ending, (job.submit_s + job.duration_s, place))
    return found


def _submitted(job: Job) -> SubmittedJob:
    return SubmittedJob(job=job.job_id, user=job.user, command=f"{job.partition}/{job.user}/{job.total_gpus:g}")


def knowledge(look: Look, intervals: Intervals) -> Mapping[str, Known]:
    """Return who tells how long jobs take, the one who knows least first.

    Progress is made up from the truth: what is left, with an error as large as was measured on logs.
    """

    def of_advisor(view: JobView) -> Expected | None:
        found = intervals.get(view.job)
        return Expected(*found, time=look.now, whole=True) if found else None

    def of_progress(view: JobView) -> Expected | None:
        draws = random.Random(f"{view.job} {look.now}")
        runs = view.state is SchedulerJobState.RUNNING
        if not runs or random.Random(view.job).random() > SHOWS_PROGRESS or _elapsed(look, view) < PROGRESS_AFTER_S:
            return of_advisor(view)
        told = look.left_s[view.job] * draws.lognormvariate(0.0, PROGRESS_DEVIATION)
        width = math.exp(SIDE * PROGRESS_DEVIATION)
        return Expected(told, told / width, told * width, time=look.now, whole=False)

    return {"nothing": lambda _: None, "the advisor": of_advisor, "advisor and progress": of_progress}


def limits_alone(look: Look) -> Known:
    """Take every job for as long as its limit, as `squeue --start` does."""

    def known(view: JobView) -> Expected | None:
        limit = view.limit_s or 0.0
        return Expected(limit, limit * (1 - CERTAIN), limit * (1 + CERTAIN), time=look.now, whole=True)

    return known


def _elapsed(look: Look, view: JobView) -> float:
    return next(look.now - job.since for job in look.queue.running if job.view.job == view.job)
