"""Jobs for tests: users who repeat themselves, and any jobs at all."""

import numpy as np
from hypothesis import strategies as st

from processors.advise.predictors.job import Completion, Submission


def repeating(count: int, seed: int = 1, drift: float = 0.0, every_s: float = 600.0) -> list[Completion]:
    """Make jobs of eight users, each with a duration of their own; `drift` is added to ln(duration) over the whole time."""
    lot = np.random.default_rng(seed)
    found = []
    for number in range(count):
        user = int(lot.integers(8))
        submitted = 1_600_000_000.0 + every_s * number
        seconds = float(np.exp(lot.normal(3 + 0.6 * user + drift * number / count, 0.15 if user < 6 else 1.5)))
        job = Submission(
            job_id=f"j{number}",
            submitted=submitted,
            user=f"u{user}",
            queue=f"q{user % 2}",
            gpus=float(1 + user % 4),
            cpus=4,
        )
        found.append(Completion(job=job, ended=submitted + 30 + seconds, duration_s=seconds, failed=user == 3))
    return found


names = st.sampled_from(["", "a", "b", "c"])


@st.composite
def any_jobs(draw: st.DrawFn) -> list[Completion]:
    """Make up to 20 jobs that share few users, queues and moments, so that ties and histories are common."""
    found = []
    for number in range(draw(st.integers(2, 20))):
        submitted = float(draw(st.integers(0, 40)))
        seconds = float(draw(st.integers(0, 30)))
        job = Submission(
            job_id=str(number),
            submitted=submitted,
            user=draw(names),
            queue=draw(names),
            group=draw(names),
            gpus=draw(st.sampled_from([0.0, 0.25, 1.0, 8.0])),
        )
        ended = submitted + seconds + draw(st.integers(0, 5))
        found.append(Completion(job=job, ended=ended, duration_s=seconds, failed=draw(st.booleans())))
    return found
