"""A spot manager without a forecast, compared with GFS."""

from benchmarks.simulate.headroom import HeadroomGfs
from processors.spot.manager import Gfs
from schedmate.simulate.policies.spot.managed import Managed
from tests.schedmate.simulate.running import job, run, spot


def test_idle_gpus_are_given_without_a_forecast() -> None:
    past = {"x": [8.0] * 30}
    runs = run([spot("low", 30 * 3600, 100, 4)], Managed(HeadroomGfs(), past=past), [8])
    assert runs["low"].first_start == 30 * 3600


def test_two_gpus_stay_idle_for_each_eviction_of_the_last_hour() -> None:
    # `high` evicts `evicted`, which is back when `high` has ended, at 350 s. From the update at 600 s on spot jobs may have all but 2 of
    # the 8 GPUs, so that `wide` waits until the eviction of 300 s is an hour old.
    jobs = [spot("evicted", 0, 20_000, 4), job("high", 300, 20, 8), spot("wide", 700, 100, 4)]
    runs = run(jobs, Managed(HeadroomGfs()), [8])
    assert runs["evicted"].evictions == 1
    assert runs["wide"].first_start == 3900
    assert run(jobs[:1] + jobs[2:], Managed(HeadroomGfs()), [8])["wide"].first_start == 700


def test_small_spot_jobs_go_first() -> None:
    jobs = [job("high", 0, 1000, 8), spot("wide", 1, 100, 6), spot("small", 2, 100, 4)]
    assert run(jobs, Managed(Gfs()), [8])["wide"].first_start == 1200
    runs = run(jobs, Managed(HeadroomGfs()), [8])
    assert runs["small"].first_start == 1200
    assert (runs["wide"].first_start or 0) > 1200


def test_high_priority_jobs_come_by_submission() -> None:
    # GFS takes the larger one first, though it came later.
    jobs = [job("runs", 0, 100, 8), job("first", 1, 50, 5), job("larger", 2, 50, 8)]
    assert run(jobs, Managed(Gfs()), [8])["larger"].first_start == 100
    assert run(jobs, Managed(HeadroomGfs()), [8])["larger"].first_start == 150


def test_a_shared_gpu_is_freed_when_all_jobs_on_it_are_evicted() -> None:
    # Algorithm 2 counts whole GPUs and leaves the high-priority job waiting; the bridge's search knows parts.
    halves = [spot(name, 0, 5000, 0.5, checkpoint_every_s=100) for name in ("one", "other")]
    runs = run([*halves, job("high", 300, 50, 8)], Managed(HeadroomGfs()), [8])
    assert {name: each.evictions for name, each in runs.items()} == {"one": 1, "other": 1, "high": 0}
    assert runs["high"].first_start == 300 + 30
    assert run([*halves, job("high", 250, 50, 8)], Managed(Gfs()), [8])["high"].evictions == 0
