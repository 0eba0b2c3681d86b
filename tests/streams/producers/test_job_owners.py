from collections.abc import Collection, Iterator, Mapping

import pytest

from streams.producers.job_owners import JobOwners

from .switchable import wait_for


class Scheduler:
    """Knows jobs, counts questions, and can be away."""

    def __init__(self) -> None:
        self.jobs = {"1": 1001}
        self.asked: list[list[str]] = []
        self.away = False

    def owners(self, jobs: Collection[str]) -> Mapping[str, int]:
        self.asked.append(sorted(jobs))
        if self.away:
            raise RuntimeError("slurmctld is down")
        return {job: user for job, user in self.jobs.items() if job in jobs}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def scheduler() -> Scheduler:
    return Scheduler()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def owners(scheduler: Scheduler, clock: Clock) -> Iterator[JobOwners]:
    owners = JobOwners(scheduler.owners, monotonic=clock, pause_s=0.0, limit=3)
    yield owners
    owners.close()


def test_a_job_is_asked_for_once(owners: JobOwners, scheduler: Scheduler) -> None:
    assert owners.answer_for("1") is None  # not answered yet: nobody waits for a scheduler
    wait_for(lambda: owners.answer_for("1") == 1001)
    assert scheduler.asked == [["1"]]


def test_a_job_that_is_not_known_is_asked_for_again_later(
    owners: JobOwners, scheduler: Scheduler, clock: Clock
) -> None:
    owners.answer_for("2")
    wait_for(lambda: "knows no job 2" in str(owners.answer_for("2")))
    assert scheduler.asked == [["2"]]
    scheduler.jobs["2"] = 1002
    clock.now += 60
    wait_for(lambda: owners.answer_for("2") == 1002)


def test_a_scheduler_that_is_away_is_the_reason(owners: JobOwners, scheduler: Scheduler, clock: Clock) -> None:
    scheduler.away = True
    owners.answer_for("1")
    wait_for(lambda: owners.answer_for("1") == "slurmctld is down")
    scheduler.away = False
    clock.now += 60
    wait_for(lambda: owners.answer_for("1") == 1001)


def test_what_is_remembered_is_bounded(owners: JobOwners, scheduler: Scheduler) -> None:
    scheduler.jobs = {str(job): job for job in range(100)}
    for job in range(100):
        wait_for(lambda job=job: owners.answer_for(str(job)) == job)  # type: ignore[misc]
    assert len(owners) <= 6
