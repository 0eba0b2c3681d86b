"""Jobs as events tell of them, for tests of the advisor."""

from processors.advise.predictors.job import Completion
from schedmate_records import EventKind, JobEvent


def life(done: Completion) -> list[JobEvent]:
    """Events of a job that says nothing of its command: no past job is like it."""
    job, start = done.job, done.ended - done.duration_s
    asked = {"user": job.user, "partition": job.queue, "gpus": job.gpus, "cpus": job.cpus, "scheduler": "slurm"}
    return [
        JobEvent(id=f"s/{job.job_id}", job=job.job_id, kind=EventKind.SUBMITTED, time=job.submitted, **asked),
        JobEvent(id=f"r/{job.job_id}", job=job.job_id, kind=EventKind.STARTED, time=start, **asked),
        JobEvent(id=f"e/{job.job_id}", job=job.job_id, kind=EventKind.ENDED, time=done.ended, exit_code=0, **asked),
    ]


def lives(jobs: list[Completion]) -> list[JobEvent]:
    return sorted((event for done in jobs for event in life(done)), key=lambda event: event.time)
