"""How often the advisor finds a similar job, and the durations that similar jobs suggest."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from schedmate.simulate.estimates import with_history
from schedmate.simulate.job import Job

RECALL = {"MiniLM": 48 / 146, "hashed records": 32 / 146}
"""Share of labelled jobs for which `python -m benchmarks.similar` finds a neighbour above a cosine of 0.90. All of these were right."""
SIMILAR_JOBS = 3
"""Jobs whose durations are averaged (SchedMate, section 4.3)."""


def similar_durations(jobs: Sequence[Job]) -> Mapping[str, float]:
    """Return for each job the mean duration of the three most similar jobs that had ended at its submission, in seconds.

    The traces have no source code. Jobs of the same user, partition and number of GPUs are similar, the newest first.

    Args:
        jobs: In the order in which they were submitted.
    """
    estimated = with_history(jobs, SIMILAR_JOBS, fmean)
    return {job.job_id: job.estimate_s for job in estimated if job.estimate_s is not None}
