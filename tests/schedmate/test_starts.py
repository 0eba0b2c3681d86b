"""When jobs that wait will start: of what a scheduler shows, and on a real Slurm."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from schedmate.starts import Expected, present
from scheduler_bridge.actuators import JobView
from scheduler_bridge.actuators.base import NodeView, SchedulerJobState, SchedulerNodeState
from scheduler_bridge.actuators.queue import Capacity, Need, Queue, RunningJob, Share, WaitingJob
from simulate.starts import start_ranges
from tests.servers.slurm import Slurm

NOW = 1_000_000.0


def node(name: str, pool: str = "p", state: SchedulerNodeState = SchedulerNodeState.UP) -> Capacity:
    return Capacity(NodeView(name, state, (pool,)), cpus=16, memory=4000, gpus=2)


def runs(job: str, on: str, gpus: float, since: float = 600.0, limit: float | None = None) -> RunningJob:
    view = JobView(job, SchedulerJobState.RUNNING, nodes=(on,), partition="p", limit_s=limit)
    return RunningJob(view, NOW - since, {on: Share(1, 0, dict.fromkeys(range(int(gpus)), 1.0))})


def waits(
    job: str, gpus: float, *, priority: int = 1, since: float = NOW, word: str = "PENDING (Resources)", **need: Any
) -> WaitingJob:
    view = JobView(job, SchedulerJobState.PENDING, priority=priority, word=word, partition="p", limit_s=600.0)
    return WaitingJob(view, since, Need(gpus=gpus, cpus=1, **need), blocked=True)


def starts(queue: Queue, **known: Expected) -> dict[str, float]:
    ranges = start_ranges(present(queue, lambda view: known.get(view.job), NOW), futures=40)
    return {each.job: each.expected for each in ranges}


def test_a_rest_that_was_told_counts_from_when_it_was_told() -> None:
    rest = Expected(300.0, 299.0, 301.0, time=NOW - 100, whole=False)
    found = starts(Queue((waits("w", 2),), (runs("r", "n1", 2),), (node("n1"),)), r=rest)
    assert found["w"] == pytest.approx(200, abs=2)


def test_of_a_whole_duration_what_has_passed_is_gone() -> None:
    whole = Expected(900.0, 899.0, 901.0, time=NOW - 5000, whole=True)
    found = starts(Queue((waits("w", 2),), (runs("r", "n1", 2),), (node("n1"),)), r=whole)
    assert found["w"] == pytest.approx(300, abs=2)


def test_who_outlasts_its_estimate_is_bounded_by_its_limit_alone() -> None:
    past = Expected(100.0, 90.0, 110.0, time=NOW - 5000, whole=True)
    queue = Queue((waits("w", 2),), (runs("r", "n1", 2, limit=1000),), (node("n1"),))
    (found,) = start_ranges(present(queue, lambda _: past, NOW), futures=100)
    assert found.low < 100
    assert found.high == pytest.approx(400)


def test_priority_goes_first_then_age() -> None:
    queue = Queue(
        (waits("young", 2, since=NOW - 1), waits("old", 2, since=NOW - 9), waits("high", 2, priority=9)),
        (),
        (node("n1"),),
    )
    found = starts(queue)
    assert found["high"] == 0 < found["old"] < found["young"]


def test_nodes_that_are_drained_excluded_or_of_another_partition_are_no_place() -> None:
    nodes = (node("n1", state=SchedulerNodeState.DRAINING), node("n2", pool="other"), node("n3"))
    found = starts(Queue((waits("one", 1, nodes=2), waits("named", 1, required=("n2",)), waits("fits", 1)), (), nodes))
    assert found == {"one": math.inf, "named": math.inf, "fits": 0}


def test_who_waits_for_something_else_is_not_foretold_and_who_begins_later_starts_then() -> None:
    queue = Queue(
        (waits("after", 1, word="PENDING (Dependency)"), waits("later", 1, since=NOW + 60)), (), (node("n1"),)
    )
    assert starts(queue) == {"after": math.inf, "later": 60}


@pytest.mark.slurm
class TestOnSlurm:
    """The command, beside a real Slurm whose six GPUs are taken."""

    @pytest.fixture
    def full(self, slurm: Slurm) -> Iterator[str]:
        for _ in range(6):
            slurm.wait(slurm.submit("sleep 300", "--gres=shard:4", "--time=10"), "RUNNING")
        waiting = slurm.submit("sleep 60", "--gres=shard:8", "--time=5")
        slurm.wait(waiting, "PENDING")
        yield waiting
        slurm.run("scancel", *slurm.run("squeue", "-h", "-a", "-o", "%i").split())

    def test_limits_bound_the_range(self, slurm: Slurm, full: str) -> None:
        environment = slurm.environment | {"SCHEDMATE_CONFIG": os.devnull}
        command = [sys.executable, "-c", "from schedmate.cli import main; main()", "--set", "redis.url=", "starts"]
        done = subprocess.run(
            [*command, "--json", full],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        row = json.loads(done.stdout)
        assert (row["job"], row["chance"]) == (full, 1.0)
        assert 0 < row["low_s"] <= row["expected_s"] <= row["high_s"] <= 600
        table = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert "9 in 10 times between" in table
