"""Durations of similar jobs."""

import pytest

from benchmarks.simulate.retrieval import similar_durations
from schedmate.simulate.job import Job


def by(user: str, name: str, submit_s: float, duration_s: float, gpus: float = 1) -> Job:
    return Job(job_id=name, submit_s=submit_s, duration_s=duration_s, gpus=gpus, user=user)


def test_the_last_three_ended_jobs_of_the_user_and_size_are_averaged() -> None:
    jobs = [by("a", f"{place}", 100.0 * place, 10.0 + place) for place in range(4)]
    others = [by("b", "other", 350, 9), by("a", "large", 360, 900, gpus=8), by("a", "runs", 370, 9000)]
    found = similar_durations([*jobs, *others, by("a", "new", 500, 1)])
    assert found["new"] == pytest.approx((11 + 12 + 13) / 3)
    assert "0" not in found
