"""The queue of jobs by size."""

from schedmate.simulate.job import Job, Run
from schedmate.simulate.policies.spot.waiting import WaitingQueue

from .running import job


def queue(*jobs: Job) -> WaitingQueue:
    waiting = WaitingQueue(lambda run: (run.job.submit_s, run.order))
    for order, each in enumerate(jobs):
        waiting.add(Run(each, order))
    return waiting


def tried(waiting: WaitingQueue, fits: set[str], *, backfills: bool = True) -> list[str]:
    names = []

    def start(run: Run) -> bool:
        names.append(run.job.job_id)
        return run.job.job_id in fits

    waiting.start(start, backfills=backfills)
    return names


def test_jobs_are_tried_in_order_and_a_size_that_did_not_fit_once() -> None:
    waiting = queue(job("a", 1, 1, 8), job("b", 2, 1, 2), job("c", 3, 1, 8), job("d", 4, 1, 2), job("e", 5, 1, 4))
    assert tried(waiting, {"b", "d"}) == ["a", "b", "d", "e"]
    assert len(waiting) == 3
    assert tried(waiting, {"a", "c", "e"}) == ["a", "c", "e"]
    assert len(waiting) == 0


def test_without_backfilling_the_first_that_does_not_fit_ends_the_look() -> None:
    waiting = queue(job("a", 1, 1, 8), job("b", 2, 1, 2), job("c", 3, 1, 4))
    assert tried(waiting, {"a", "c"}, backfills=False) == ["a", "b"]
    assert len(waiting) == 2


def test_the_longest_wait_is_that_of_jobs_that_still_wait() -> None:
    waiting = queue(job("a", 10, 1, 8), job("b", 30, 1, 2))
    assert waiting.longest_wait(100) == 90
    assert queue().longest_wait(100) == 0
