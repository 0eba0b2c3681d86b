"""Classes for traces that have none, by a stated rule."""

from collections.abc import Sequence

import msgspec
import numpy as np

from ..job import Job, JobClass


def with_classes(jobs: Sequence[Job], spot_share: float, seed: int, checkpoint_every_s: float = 1800.0) -> list[Job]:
    """Make some users' jobs spot jobs.

    The rule: users, drawn in random order, become spot users until they have submitted the wished share of the jobs; all their jobs of
    up to 8 GPUs are spot jobs, and save every `checkpoint_every_s`. So a class goes with a person, as in practice, and not with a job.
    A user who would overshoot the share by
    more than a tenth of all jobs is passed over.

    Args:
        jobs: Of a trace that names users.
        spot_share: Of the jobs, from 0 to 1.
        seed: Of the order of users.
        checkpoint_every_s: Work between two checkpoints of a spot job.
    """
    counts: dict[str, int] = {}
    for job in jobs:
        if _may_be_spot(job):
            counts[job.user] = counts.get(job.user, 0) + 1
    users = sorted(counts)
    wanted, spot, have = spot_share * len(jobs), set[str](), 0
    for place in np.random.default_rng(seed).permutation(len(users)):
        count = counts[users[place]]
        if have < wanted and have + count <= wanted + len(jobs) / 10:
            spot.add(users[place])
            have += count
    return [
        msgspec.structs.replace(job, job_class=JobClass.SPOT, checkpoint_every_s=checkpoint_every_s)
        if job.user in spot and _may_be_spot(job)
        else job
        for job in jobs
    ]


def _may_be_spot(job: Job) -> bool:
    return job.total_gpus <= 8
