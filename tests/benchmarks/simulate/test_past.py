"""Workloads with a past: what is replayed, and what is remembered."""

import pytest

from benchmarks.simulate.past import split_past
from processors.spot.manager import Gfs
from processors.spot.settings import CLUSTER
from schedmate.simulate.job import JobClass
from schedmate.simulate.policies.spot.managed import ClusterView, Managed
from schedmate.simulate.policies.spot.state import Demand
from schedmate.simulate.workloads.spot import spot_workload
from tests.schedmate.simulate.running import job, run, spot

HOUR = 3600.0


def test_what_still_runs_is_replayed_with_the_rest_of_its_work() -> None:
    jobs = [job("done", 0, 100), job("runs", 1000, 9000, 4), spot("low", 2000, 7000), job("later", 8000, 50)]
    kept, _ = split_past(jobs, 2 * HOUR)
    assert [(each.job_id, each.submit_s, each.duration_s) for each in kept] == [
        ("runs", 7200, 2800),
        ("low", 7200, 1800),
        ("later", 8000, 50),
    ]


def test_the_past_has_the_peak_of_each_hour_of_high_priority_jobs_alone() -> None:
    jobs = [
        job("a", 100, 500, 4, user="x"),
        spot("low", 100, 9000, 8, user="x"),
        job("b", 600, 4000, 2, user="x"),  # starts as `a` ends, and ends in the second hour
        job("c", 7300, 9000, 1, user="y"),
        job("after", 4 * HOUR, 10, 8, user="z"),
    ]
    _, past = split_past(jobs, 4 * HOUR)
    assert past == {"": [4, 2, 1, 1], "x": [4, 2, 0, 0], "y": [0, 0, 1, 1], "z": [0, 0, 0, 0]}


def test_a_past_is_what_a_simulation_without_waiting_notes() -> None:
    jobs = spot_workload(1, 5, cluster_scale=0.05)
    _, past = split_past(jobs, 20 * HOUR)
    demand = {user: Demand() for user in past}
    high = [each for each in jobs if each.job_class is JobClass.HP]
    changes = [(each.submit_s, 1, each.total_gpus, each.user) for each in high]
    changes += [(each.submit_s + each.duration_s, 0, -each.total_gpus, each.user) for each in high]
    for at, _, gpus, user in sorted(changes):
        if at < 20 * HOUR:
            demand[user].change(at, gpus)
            demand[CLUSTER].change(at, gpus)
    noted = {user: each.past_peaks(20 * HOUR, 20) for user, each in demand.items()}
    assert {user: pytest.approx(hours) for user, hours in past.items()} == noted


def test_the_cut_is_at_the_start_of_an_hour() -> None:
    with pytest.raises(ValueError, match="start of an hour"):
        split_past([], 100)


class Remembers(Gfs):
    """Notes the demand that it is shown."""

    seen: list[dict[str, list[float]]]

    def quota(self, view: ClusterView) -> float:
        self.seen.append({user: list(hours) for user, hours in view.demand().items()})
        return super().quota(view)


def test_a_manager_is_shown_the_past_and_what_came_since() -> None:
    manager = Remembers()
    manager.seen = []
    jobs = [job("old", 2 * HOUR, 5000, 3, user="x"), spot("low", 3 * HOUR + 10, 10)]
    run(jobs, Managed(manager, past={"x": [5.0, 3.0], CLUSTER: [6.0, 4.0]}), [8])
    assert manager.seen[0] == {"x": [5, 3], CLUSTER: [6, 4]}
    assert manager.seen[-1] == {"x": [5, 3, 3], CLUSTER: [6, 4, 3]}
