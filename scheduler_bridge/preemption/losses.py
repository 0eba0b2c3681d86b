"""Loss of a running job if it were stopped now."""

from collections.abc import Mapping
from dataclasses import dataclass

from processors.eviction import weigh
from schedmate_records import Checkpoint, same_job

from ..schedulers import RunningJob

SILENT = 7200.0
"""Seconds that a job which reports no checkpoint counts at most. It would lose all since its start; but were that what counts, it would
never be evicted, and those that report would be, again and again."""

DAY = 86400.0  # period in which evictions count, in seconds


@dataclass(frozen=True, slots=True)
class Loss:
    """Loss of a job.

    Attributes:
        unsaved_s: Seconds of work since its last durable checkpoint began; since its start where none is known.
        checkpoint: That checkpoint; None where none is known.
        weighed: GPU-seconds by which jobs are compared: of so much work as counts (`SILENT`, `OVERDUE`), and of a restart; each eviction
            within a day doubles them.
    """

    unsaved_s: float
    checkpoint: Checkpoint | None
    weighed: float


def loss_of(job: RunningJob, saves: Mapping[str, Checkpoint], evictions: int, now: float) -> Loss:
    """Return what a job would lose now.

    Args:
        job: The job.
        saves: The newest durable checkpoint of each job.
        evictions: How often it was evicted within a day.
        now: Seconds since 1970.
    """
    saved = saves.get(job.view.job)
    if saved and not same_job(saved, job.view):
        saved = None
    # A checkpoint of an earlier attempt: the job went on from it, as far as anyone knows.
    since = max(saved.since, job.since) if saved else job.since
    unsaved = max(0.0, now - since)
    most = SILENT
    if saved and saved.attempt == job.view.attempt:
        # After two intervals without a checkpoint a job counts as one that reports none: a single save does not protect for ever.
        most = max(SILENT, 2.0 * (saved.interval_s or since - job.since))
    return Loss(unsaved, saved, weigh(min(unsaved, most), job.gpus, evictions))
