"""Sia against cases worked out by hand."""

import numpy as np
import pytest

from benchmarks.simulate.bootstrap import SimilarJobs
from benchmarks.simulate.elastic.allocation import allocate
from benchmarks.simulate.elastic.beliefs import believed
from benchmarks.simulate.elastic.measurements import (
    Application,
    Config,
    Constants,
    GpuType,
    Steps,
    Validation,
    application,
    configs,
)
from benchmarks.simulate.elastic.sia import NoHistory, Sia, nodes
from schedmate.simulate.job import Job, PackedWorkload, Run
from schedmate.simulate.replay import Scenario, replay
from schedmate.simulate.simulation import Costs

TWO = (GpuType("slow", 1, 2), GpuType("fast", 1, 2))
SLOW1, SLOW2, FAST1, FAST2 = range(4)


def training(restart_s: float = 10, work: float = 1000) -> Application:
    """Goodput 1 and 1.5 on one and two slow GPUs, 4 and 6 on fast ones; two GPUs do twice as much where gradients cost nothing."""
    goodput = np.array([[1.0], [1.5], [4.0], [6.0]])
    unhindered = np.array([[1.0], [2.0], [4.0], [8.0]])
    return Application("net", Constants(restart_s, 1), np.array([work]), goodput, unhindered)


def job(name: str, submit_s: float = 0) -> Job:
    return Job(job_id=name, submit_s=submit_s, duration_s=1000, workload=PackedWorkload("net"))


def replayed(jobs: list[Job], sia: Sia) -> dict[str, Run]:
    scenario = Scenario(jobs=jobs, nodes=nodes(TWO), costs=Costs(restart_s=0, restart_large_s=0))
    return {run.job.job_id: run for run in replay(scenario, lambda: sia).runs}


def test_configurations_are_parts_of_a_node_and_whole_nodes() -> None:
    found = configs((GpuType("x", 2, 4), GpuType("y", 1, 1)))
    assert found == [Config("x", 1, 1), Config("x", 1, 2), Config("x", 1, 4), Config("x", 2, 8), Config("y", 1, 1)]


def test_goodput_is_progress_at_the_best_batch_size() -> None:
    # At batches of 2 and 4, a step is worth 1 and (6 + 1) / (6 / 2 + 1) = 1.75 first ones: the variance is 6, the squared gradient 1.
    row = {"progress": "100", "grad_sqr": "1", "grad_var": "6"}
    validation = Validation({2: [row], 4: [row]})
    # One GPU does 2 samples in 1 s, 0.2 s of them for gradients; the batch of 4 is two parts: 1 + 0.8 s. Two GPUs do 4 samples in 1.5 s.
    steps = {
        "slow": {
            1: Steps(np.array([2.0]), np.array([1.0]), np.array([0.2])),
            2: Steps(np.array([1.0, 2.0]), np.array([1.2, 1.5]), np.array([0.5, 0.5])),
        }
    }
    found = application("net", Constants(10, 2), validation, steps, [Config("slow", 1, 1), Config("slow", 1, 2)])
    assert found.goodput[0, 0] == pytest.approx(1 / 2)  # 1.75 / 1.8 is less than 1
    assert found.goodput[1, 0] == pytest.approx(1.75 / 1.5 / 2)
    # Without gradients a GPU takes 0.8 s, and two take it at once.
    assert found.unhindered[1, 0] == pytest.approx(1.75 / 0.8 / 2)


def test_what_was_not_seen_is_taken_to_scale() -> None:
    among = configs(TWO)
    assert list(believed(training(), among, {SLOW1, FAST1}, 0)) == [1, 2, 4, 8]
    # Two slow GPUs were seen: fast ones scale as they do.
    assert list(believed(training(), among, {SLOW1, FAST1, SLOW2}, 0)) == [1, 1.5, 4, 6]
    # Four GPUs are more than twice what was seen; a type that was never seen is not used.
    wide = Application("net", Constants(10, 1), np.array([1.0]), np.ones((3, 1)), np.ones((3, 1)))
    assert list(believed(wide, [Config("x", 1, 1), Config("x", 1, 2), Config("x", 1, 4)], {0}, 0)) == [1, 1, 0]
    assert list(believed(training(), among, {SLOW1}, 0)) == [1, 2, 0, 0]


def test_gpus_go_where_they_gain_most_and_everyone_gets_some() -> None:
    among = configs(TWO)
    steep, flat = np.array([1.0, 2, 4, 8]), np.array([1.0, 2, 1, 2])
    free = {"slow": 2, "fast": 2}
    assert allocate([steep, flat], [None, None], [1, 1], among, free) == [FAST2, SLOW2]
    # With one GPU of each type all get one, and those for whom fast ones are fast get them.
    assert allocate([steep, flat], [None, None], [1, 1], among, {"slow": 1, "fast": 1}) == [FAST1, SLOW1]
    # A restart that costs half of what is gained is not worth it.
    assert allocate([np.array([1.0, 1.5, 0, 0])], [SLOW1], [0.5], among, free) == [SLOW1]
    assert allocate([np.array([1.0, 1.5, 0, 0])], [SLOW1], [0.9], among, free) == [SLOW2]
    assert allocate([np.zeros(4)], [None], [1], among, free) == [None]


def test_a_job_is_profiled_first_and_a_similar_one_is_not() -> None:
    # `first`: its profile takes 10 + 20 s, so that it gets GPUs at 60 s: both fast ones, as the second seems to double its speed. After
    # 10 s of start it does 6 a second: 1000 / 6 = 166.7 s.
    sia = Sia({"net": training()}, NoHistory(), 20, TWO)
    first = replayed([job("first")], sia)["first"]
    assert first.ended == pytest.approx(60 + 10 + 1000 / 6)
    # `second` comes when that is over, at 600 s: with a history it starts at once.
    jobs = [job("first"), job("second", 600)]
    again = replayed(jobs, Sia({"net": training()}, NoHistory(), 20, TWO))["second"]
    assert again.ended == pytest.approx(600 + 60 + 10 + 1000 / 6)
    begun = replayed(jobs, Sia({"net": training()}, SimilarJobs(), 20, TWO))["second"]
    assert begun.ended == pytest.approx(600 + 10 + 1000 / 6)
    free = replayed(jobs, Sia({"net": training()}, NoHistory(), None, TWO))["second"]
    assert free.ended == begun.ended


def test_a_profile_takes_a_gpu_of_each_type_from_others() -> None:
    # `second` comes while `first` has both fast GPUs: its profile takes one of each type at 120 s, for a round.
    jobs = [job("first"), job("second", 90)]
    runs = replayed(jobs, Sia({"net": training()}, NoHistory(), 20, TWO))
    assert runs["first"].evictions >= 1
    assert runs["second"].first_start == 180 + 10
    assert all(run.ended is not None for run in runs.values())


def test_a_similar_job_is_found_for_a_share_of_the_jobs() -> None:
    runs = [Run(job(f"{number}"), number) for number in range(400)]
    always, never, third = SimilarJobs(), SimilarJobs(0.0), SimilarJobs(1 / 3)
    for history in (always, never, third):
        history.note(runs[0], {SLOW1})
    assert all(always.of(run) for run in runs)
    assert not any(never.of(run) for run in runs)
    assert 100 < sum(third.of(run) is not None for run in runs) < 170
