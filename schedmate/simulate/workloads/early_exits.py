"""Jobs that end before their time: their owners saw enough, or they failed (SchedMate, section 5.1)."""

from collections.abc import Sequence

import msgspec
import numpy as np

from ..job import Job


def with_early_exits(jobs: Sequence[Job], share: float, seed: int) -> list[Job]:
    """Return the jobs, of which a share, drawn at random, ends at a moment drawn evenly from its duration. Estimates stay as they are.

    Args:
        jobs: Any.
        share: From 0 to 1.
        seed: Of the random numbers.
    """
    random = np.random.default_rng(seed)
    drawn = random.random((len(jobs), 2))
    return [
        msgspec.structs.replace(job, duration_s=max(1.0, float(round(job.duration_s * at)))) if exits < share else job
        for job, (exits, at) in zip(jobs, drawn, strict=True)
    ]
