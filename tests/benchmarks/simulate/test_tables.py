"""The simulator's tables: intervals, GFS without its parts, and a whole small run."""

import numpy as np
import pytest

from benchmarks.simulate.intervals import mean_and_interval
from benchmarks.simulate.managers import learn, manager
from benchmarks.simulate.spot_workloads import DAY, PAST_DAYS, SpotTrial, spot_trial
from benchmarks.simulate.tables import dominating
from schedmate.simulate.cluster import NodeSpec
from schedmate.simulate.outcomes import Summary
from schedmate.simulate.policies.spot.managed import Managed
from tests.schedmate.simulate.running import job, run, spot


def test_an_interval_holds_the_mean_and_narrows_with_more_seeds() -> None:
    mean, low, high = mean_and_interval(np.array([1.0, 2.0, 3.0, 6.0]))
    assert mean == 3
    assert 1 <= low < mean < high <= 6
    _, closer_low, closer_high = mean_and_interval(np.array([1.0, 2.0, 3.0, 6.0] * 4))
    assert closer_high - closer_low < high - low
    assert mean_and_interval(np.array([5.0])) == (5, 5, 5)


PAST = {"x": [0.0] * 24 * PAST_DAYS}
NOW = PAST_DAYS * DAY


def managed(name: str) -> Managed:
    """A manager whose forecast is last week's peak: 0 here, so that spot jobs may have all that is idle."""
    peak = learn(PAST, ("peak",), 0.9, 1)["peak"]
    return Managed(manager(name, {"peak": peak, "orglinear": peak}), past=PAST)


def test_best_fit_does_not_look_at_classes() -> None:
    # `block` leaves node 0 half to a spot job; node 1 is half a high-priority job's. `second` goes beside that one under GFS, and best
    # fit takes the lower number. Then a pod of 8 evicts one spot job under GFS, and under best fit waits for `first` to end.
    jobs = [
        spot("low", NOW, 6000, 4),
        job("block", NOW + 1, 10, 4),
        job("first", NOW + 2, 5000, 4),
        job("second", NOW + 20, 6000, 4),
        job("whole", NOW + 30, 10, 8),
    ]
    assert run(jobs, managed("gfs"), [8, 8])["whole"].first_start == NOW + 60
    assert run(jobs, managed("gfs-s"), [8, 8])["whole"].first_start == NOW + 5002


def test_random_victims_are_no_more_than_the_pods_need() -> None:
    # Of 16 GPUs spot jobs have 14; the gang needs 12.
    jobs = [*(spot(f"low-{k}", NOW, 900, 2) for k in range(7)), job("gang", NOW + 5, 10, 4, pods=3)]
    runs = run(jobs, managed("gfs-p"), [8, 8])
    assert sum(each.evictions for each in runs.values()) == 5
    assert runs["gang"].first_start == NOW + 35


def test_ours_evicts_every_five_minutes_where_nothing_becomes_free_until_then() -> None:
    # Node 0 is free again at NOW + 200, so that `patient` evicts nobody. `urgent` comes when nothing will become free.
    jobs = [
        job("first", NOW, 200, 8),
        spot("low", NOW, 9000, 8),
        job("patient", NOW + 20, 5000, 8),
        job("urgent", NOW + 310, 10, 8),
    ]
    gfs, ours = run(jobs, managed("gfs"), [8, 8]), run(jobs, managed("ours"), [8, 8])
    assert (gfs["patient"].first_start, gfs["low"].evictions) == (NOW + 50, 2)
    assert (ours["patient"].first_start, ours["urgent"].first_start) == (NOW + 200, NOW + 600 + 30)
    assert ours["low"].evictions == 1


@pytest.mark.slow
def test_a_small_table_has_every_policy() -> None:
    trial: SpotTrial = spot_trial(1, 2, 0.5, 0.1)
    assert trial.nodes == [NodeSpec()] * 29
    hp, low = trial.run("ours", Managed(manager("ours", {}), past=trial.past))
    assert hp.jobs == sum(each.submit_s >= trial.counts_from_s and each.job_id.startswith("hp") for each in trial.jobs)
    assert (hp.evictions, hp.unfinished, low.unfinished) == (0, 0, 0)


def test_a_policy_dominates_one_that_is_worse_in_a_figure_and_better_in_none() -> None:
    def pair(evictions: float, queue: float, lost: float) -> tuple[Summary, Summary]:
        figures = dict.fromkeys(Summary.__struct_fields__, 0.0) | {"policy": "", "job_class": "spot"}
        figures |= {"eviction_rate": evictions, "queue_mean_s": queue, "lost_gpu_s": lost}
        summary = Summary(**figures)  # type: ignore[arg-type]
        return summary, summary

    found = {("1 x", "a"): [pair(1, 5, 3)], ("1 x", "b"): [pair(1, 6, 3)], ("1 x", "c"): [pair(0, 9, 9)]}
    assert dominating(found) == {("1 x", "a"): [], ("1 x", "b"): ["a"], ("1 x", "c"): []}
