"""EASY backfilling, by hand."""

from schedmate.simulate.job import Run
from schedmate.simulate.policies.backfill import Backfilled
from schedmate.simulate.policies.ordered import by_estimate

from .running import job, run, times


def in_order() -> Backfilled:
    return Backfilled(lambda run: run.job.submit_s)


def test_a_short_job_goes_before_one_that_waits_for_nodes() -> None:
    jobs = [
        job("runs", 0, 100, 4, estimate_s=100),
        job("wide", 1, 50, 8, estimate_s=50),  # promised the node at 100
        job("long", 2, 200, 4, estimate_s=200),  # would delay it
        job("short", 3, 90, 4, estimate_s=90),  # ends at 93
    ]
    assert times(run(jobs, in_order())) == {
        "runs": (0, 100), "wide": (100, 150), "long": (150, 350), "short": (3, 93),
    }  # fmt: skip


def test_a_long_job_goes_where_nobody_was_promised_anything() -> None:
    # `wide` is promised the first node at 100: the second stays for `long`.
    jobs = [
        job("first", 0, 100, 6, estimate_s=100),
        job("second", 0, 500, 6, estimate_s=500),
        job("wide", 1, 50, 8, estimate_s=50),
        job("long", 2, 900, 2, estimate_s=900),
        job("beside", 3, 900, 2, estimate_s=900),
    ]
    found = times(run(jobs, in_order(), [8, 8]))
    assert found["wide"] == (100, 150)
    assert found["long"] == (2, 902)
    assert found["beside"] == (150, 1050)


def test_who_outlives_the_estimate_moves_the_promise() -> None:
    # `runs` was taken to end at 10. At 40 it is taken to go on until 80: `late`, until 75, may go.
    jobs = [
        job("runs", 0, 100, 4, estimate_s=10),
        job("wide", 1, 50, 8, estimate_s=50),
        job("late", 40, 35, 4, estimate_s=35),
    ]
    found = times(run(jobs, in_order()))
    assert found["late"] == (40, 75)
    assert found["wide"] == (100, 150)


def test_a_job_without_an_estimate_is_last_and_taken_for_a_long_one() -> None:
    jobs = [
        job("runs", 0, 100, 4, estimate_s=100),
        job("unknown", 1, 10, 4),
        job("wide", 1, 50, 8, estimate_s=50),
    ]
    ends: dict[str, Run] = run(jobs, Backfilled(by_estimate))
    assert ends["wide"].first_start == 100
    assert ends["unknown"].first_start == 150


def test_a_gang_is_promised_the_nodes_that_its_pods_fill() -> None:
    # The gang needs 6 GPUs on two nodes: the first and the third are promised at 100, so that `long` goes to the second.
    jobs = [
        job("one", 0, 100, 6, estimate_s=100),
        job("two", 0, 900, 4, estimate_s=900),
        job("three", 0, 90, 6, estimate_s=90),
        job("gang", 1, 50, 6, pods=2, estimate_s=50),
        job("long", 2, 900, 2, estimate_s=900),
        job("longer", 3, 950, 2, estimate_s=950),
        job("late", 4, 900, 2, estimate_s=900),
    ]
    found = times(run(jobs, Backfilled(lambda run: run.job.submit_s, by_pods=True), [8, 8, 8]))
    assert found["gang"] == (100, 150)
    assert found["long"] == (2, 902)
    assert found["longer"] == (3, 953)
    assert found["late"][0] == 100


def test_progress_of_running_jobs_moves_the_reservation() -> None:
    # `first` is expected to end at 1000 s by its estimate, and at 100 s by its progress, so that `behind` would delay `wide`.
    jobs = [
        job("first", 0, 100, 4, estimate_s=1000),
        job("wide", 1, 50, 8, estimate_s=50),
        job("behind", 2, 500, 4, estimate_s=500),
    ]
    by_estimate = run(jobs, Backfilled(lambda each: each.job.submit_s), [8])
    by_progress = run(jobs, Backfilled(lambda each: each.job.submit_s, running=lambda each: each.job.duration_s), [8])
    assert (by_estimate["behind"].first_start, by_estimate["wide"].first_start) == (2, 502)
    assert (by_progress["behind"].first_start, by_progress["wide"].first_start) == (150, 100)
