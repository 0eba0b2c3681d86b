"""GFS in the simulator: the live spot manager, asked by `Managed`."""

from processors.spot.manager import Gfs
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


def test_spot_jobs_wait_where_the_past_used_all_gpus() -> None:
    # All 8 GPUs were used in the past, so that GFS has no inventory for the first hour, although they are idle.
    hour = 3600
    jobs = [spot("low", 30 * hour, 100, 4)]
    past = {"x": [8.0] * 30}
    patient = run(jobs, Managed(Gfs(), past=past), [8])["low"]
    assert patient.first_start is not None
    assert patient.first_start >= 31 * hour
