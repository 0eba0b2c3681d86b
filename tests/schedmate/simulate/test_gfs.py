"""GFS in the simulator: the live spot manager, asked by `Managed`."""

from processors.spot.manager import Gfs, HeadroomGfs
from schedmate.simulate.policies.spot.managed import Managed

from .running import job, run, spot


def test_it_evicts_the_spot_job_that_has_just_saved() -> None:
    jobs = [
        spot("unsaved", 0, 5000, 4, checkpoint_every_s=float("inf")),
        spot("saved", 0, 5000, 4, checkpoint_every_s=100),
        job("high", 250, 50, 4),
    ]
    runs = run(jobs, Managed(Gfs()), [8])
    assert {name: each.evictions for name, each in runs.items()} == {"unsaved": 0, "saved": 1, "high": 0}
    assert runs["saved"].lost == 50


def test_high_priority_jobs_keep_together() -> None:
    jobs = [job("first", 0, 900, 4), spot("low", 0, 900, 4), job("second", 10, 900, 4)]
    runs = run(jobs, Managed(Gfs()), [8, 8])
    nodes = {name: each.first_start for name, each in runs.items()}
    assert nodes == {"first": 0, "low": 0, "second": 10}
    assert not any(each.evictions for each in runs.values())


def test_a_spot_job_beyond_what_is_left_waits() -> None:
    jobs = [job("high", 0, 1000, 6), spot("small", 1, 100, 2), spot("wide", 1, 100, 4)]
    runs = run(jobs, Managed(Gfs()), [8])
    assert runs["small"].first_start == 1
    assert runs["wide"].first_start == 1200  # after `high`, at the next update of the quota


def test_nobody_goes_where_there_is_room_and_a_quota_binds_spot_jobs_alone() -> None:
    jobs = [spot("low", 0, 900, 4), job("fits", 10, 900, 4), job("evicts", 20, 900, 4), spot("late", 30, 900, 1)]
    runs = run(jobs, Managed(Gfs()), [8])
    assert {name: each.first_start for name, each in runs.items() if name != "late"} == {
        "low": 0,
        "fits": 10,
        "evicts": 50,
    }
    assert (runs["low"].evictions, runs["late"].evictions) == (1, 0)
    assert (runs["late"].first_start or 0) >= 900, "high-priority jobs have all, so that spot jobs may have nothing"


def test_what_is_idle_is_given_without_a_forecast() -> None:
    # The past says that all 8 GPUs will be wanted, so that GFS has no inventory for the first hour, though they are idle.
    hour = 3600
    jobs = [spot("low", 30 * hour, 100, 4)]
    past = {"x": [8.0] * 30}
    patient = run(jobs, Managed(Gfs(), past=past), [8])["low"]
    assert patient.first_start is not None
    assert patient.first_start >= 31 * hour
    assert run(jobs, Managed(HeadroomGfs(), past=past), [8])["low"].first_start == 30 * hour


def test_two_gpus_stay_idle_for_each_eviction_of_the_last_hour() -> None:
    # `high` evicts `evicted`, which is back when `high` has ended, at 350 s. From the update at 600 s on spot jobs may have all but 2 of
    # the 8 GPUs, so that `wide` waits until the eviction of 300 s is an hour old.
    jobs = [spot("evicted", 0, 20_000, 4), job("high", 300, 20, 8), spot("wide", 700, 100, 4)]
    runs = run(jobs, Managed(HeadroomGfs()), [8])
    assert runs["evicted"].evictions == 1
    assert runs["wide"].first_start == 3900
    assert run(jobs[:1] + jobs[2:], Managed(HeadroomGfs()), [8])["wide"].first_start == 700


def test_small_spot_jobs_go_first_where_waits_are_bounded() -> None:
    jobs = [job("high", 0, 1000, 8), spot("wide", 1, 100, 6), spot("small", 2, 100, 4)]
    assert run(jobs, Managed(Gfs()), [8])["wide"].first_start == 1200
    runs = run(jobs, Managed(HeadroomGfs()), [8])
    assert runs["small"].first_start == 1200
    assert (runs["wide"].first_start or 0) > 1200


def test_high_priority_jobs_come_by_submission_where_waits_are_bounded() -> None:
    # GFS takes the larger one first, though it came later.
    jobs = [job("runs", 0, 100, 8), job("first", 1, 50, 5), job("larger", 2, 50, 8)]
    assert run(jobs, Managed(Gfs()), [8])["larger"].first_start == 100
    assert run(jobs, Managed(HeadroomGfs()), [8])["larger"].first_start == 150


def test_a_shared_gpu_is_freed_by_all_who_share_it() -> None:
    # Algorithm 2 counts whole GPUs and leaves the high-priority job waiting; the bridge's search knows parts.
    halves = [spot(name, 0, 5000, 0.5, checkpoint_every_s=100) for name in ("one", "other")]
    runs = run([*halves, job("high", 300, 50, 8)], Managed(HeadroomGfs()), [8])
    assert {name: each.evictions for name, each in runs.items()} == {"one": 1, "other": 1, "high": 0}
    assert runs["high"].first_start == 300 + 30
    assert run([*halves, job("high", 250, 50, 8)], Managed(Gfs()), [8])["high"].evictions == 0
