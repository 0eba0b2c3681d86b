"""A job as an event describes it, as the history keeps it, and as predictors know it."""

import msgspec

from processors.advise.past import PastJob, SubmittedJob
from processors.advise.predictors.job import Completion, Submission
from schedmate_records import JobEvent


def submitted_job(event: JobEvent) -> SubmittedJob:
    """Return the job that a submission describes."""
    return SubmittedJob(
        job=event.job,
        user=event.user,
        command=event.command,
        directory=event.directory,
        branch=event.branch,
        submitted=event.time,
        name=event.name,
        partition=event.partition,
        gpus=event.gpus or 0.0,
        cpus=event.cpus or 0.0,
        memory_gib=event.memory_gib or 0.0,
        nodes=event.node_count or 0,
        time_limit_s=event.time_limit_s or 0.0,
        workload=event.workload,
    )


def submission(about: SubmittedJob) -> Submission:
    """Return a job as predictors know it: what was asked for, as accounting has it."""
    return Submission(
        job_id=about.job,
        submitted=about.submitted,
        user=about.user,
        queue=about.partition,
        group=about.name,
        gpus=about.gpus,
        cpus=about.cpus,
        memory_gib=about.memory_gib,
        instances=max(1, about.nodes),
        time_limit_s=about.time_limit_s,
    )


def completion(past: PastJob) -> Completion:
    """Return the end of a job as predictors know it; one whose submission is not known was submitted when it started."""
    about = past.about
    if not about.submitted:
        about = msgspec.structs.replace(about, submitted=past.ended - past.duration_s)
    return Completion(job=submission(about), ended=past.ended, duration_s=past.duration_s, failed=not past.completed)
